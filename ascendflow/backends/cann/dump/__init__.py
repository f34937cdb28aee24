"""What an operator computed on the device, and which ONNX node that belongs to.

`names` finds the files of a run, `file` reads one, `elements` gives a tensor's values,
`layouts` puts them in the order of the origin, `origins` says which ONNX node and tensor
they are, and `computed` puts all that together. `results` reads the table that msprobe
makes of the same files.
"""

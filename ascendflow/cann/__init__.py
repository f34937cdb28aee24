"""What is known of CANN, as data and small functions; runs nothing."""

# braid-opt reads no names of values, after which braidc names buffers and kernels of plain arithmetic.
s/ name "[^"]*"/ name/
s/(exec\.(launch|kernel_def)) @[A-Za-z_0-9]+/\1/
s/waits_for = "[^"]*"/waits_for/g

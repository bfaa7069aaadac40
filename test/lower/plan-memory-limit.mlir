// A limit that the plan exceeds names what dominates; one that it keeps is silent.
// RUN: braid-opt %s --exec-plan-memory=memory-limit=105KiB -o %t
// RUN: not braid-opt %s --exec-plan-memory=memory-limit=100KiB 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not braid-opt %s --exec-plan-memory=memory-limit=lots 2>&1 | FileCheck %s --check-prefix=NONE

// SMALL: error: the plan needs 104 KiB (106688 bytes) but the memory limit is 100 KiB (102400 bytes), and no smaller plan was found: 104 KiB (106688 bytes) are live at one time
// SMALL: note: most of program 'main' is workspace 96.2 KiB, parameters 4.00 KiB, activations 2.00 KiB
// SMALL: note: the largest tensors at the peak (matmul) are workspace 96.2 KiB, w 4.00 KiB, x 2.00 KiB
// NONE: error: invalid memory limit 'lots': expected a number of bytes, with an optional KiB, MiB or GiB
func.func @main(%w: tensor<32x32xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}, %x: tensor<16x32xf32> {tg.input = "x"})
    -> (tensor<16x32xf32> {tg.output = "y"}) {
  %0 = exec.matmul "bi,oi->bo"(%x, %w) : tensor<16x32xf32>, tensor<32x32xf32> -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

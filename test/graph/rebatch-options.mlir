// RUN: not braid-opt %s --tg-rebatch="batch=2 factor=2" 2>&1 | FileCheck %s
// RUN: not braid-opt %s --tg-rebatch="factor=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// CHECK: error: tg-rebatch takes a positive batch or a positive factor, found batch=2 factor=2
// ZERO: error: tg-rebatch takes a positive batch or a positive factor, found batch=0 factor=0
func.func @f(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}

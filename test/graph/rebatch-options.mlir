// RUN: not braid-opt %s --tg-rebatch="batch=2 factor=2" 2>&1 | FileCheck %s
// RUN: not braid-opt %s --tg-rebatch="factor=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// CHECK: error: tg-rebatch takes either a batch or a factor, found batch=2 and factor=2
// ZERO: error: option 'factor' of pass: '0' is not valid, expected an integer of at least 1
func.func @f(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}

// What a copy between a device and its host must be.
// RUN: braid-opt %s --verify-diagnostics --split-input-file

func.func @other_type(%x: tensor<4xf32>) -> tensor<4xbf16> {
  // copy_c2
  // expected-error @below {{copies operand 0, a 'tensor<4xf32>', to a 'tensor<4xbf16>'}}
  %a = comm.copy %x to device : (tensor<4xf32>) -> tensor<4xbf16>
  return %a : tensor<4xbf16>
}

// -----

func.func @fewer(%x: tensor<4xf32>) -> tensor<4xf32> {
  // copy_c2
  // expected-error @below {{has 2 operands and 1 results; it needs at least one operand, and as many copies as operands}}
  %a = comm.copy %x, %x to host : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

exec.program @both arena 256 {
  exec.buffer @b at 0 bytes 16 live 0 to 1 category activations name "b"
  %b = exec.ref @b + 0 : !exec.ref<4xf32, [1]>
  // copy_c1
  // expected-error @below {{copies tensors to results, or references to outs, and not both; it has 1 operands, 1 results and 0 outs}}
  %a = comm.copy %b to host : (!exec.ref<4xf32, [1]>) -> tensor<4xf32>
}

// -----

// expected-error @below {{'exec.host' of argument #0 is a unit attribute, found 1 : i64}}
func.func @attribute(%x: tensor<4xf32> {exec.host = 1}) {
  return
}

// A requested library call that is not possible is an error with the reason; so are tiles.
// RUN: not braid-opt %s --pass-pipeline='builtin.module(exec-set-target{name=cuda},func.func(exec-select-attention{way=library}))' 2>&1 | FileCheck %s
// RUN: sed 's/f32/f64/g' %s | not braid-opt --pass-pipeline='builtin.module(func.func(exec-select-attention{way=tiles}))' 2>&1 | FileCheck %s --check-prefix=CPU

// Masks with a window and soft-capped scores: tiles take them, cuDNN does not.
// RUN: sed -e 's/f32/bf16/g' -e 's/x2x4xbf16>)/x2x4xf32>)/' -e 's/scale 1.0/scale 1.0 causal window 2/' %s > %t.window.mlir
// RUN: not braid-opt %t.window.mlir --pass-pipeline='builtin.module(exec-set-target{name=cuda},func.func(exec-select-attention{way=library}))' 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: braid-opt %t.window.mlir --pass-pipeline='builtin.module(func.func(exec-select-attention{way=tiles}))' 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: sed 's/causal window 2/softcap 5.0/' %t.window.mlir | not braid-opt --pass-pipeline='builtin.module(exec-set-target{name=cuda},func.func(exec-select-attention{way=library}))' 2>&1 | FileCheck %s --check-prefix=SOFTCAP
// WINDOW: error: no library call can compute this attention: its mask has a window or an offset, which the library does not support
// TILES: exec.attention(%{{.*}}) scale 1.000000e+00 causal window 2 tiles :
// SOFTCAP: error: no library call can compute this attention: its scores are soft-capped, which the library does not support

// So it is with rows of several documents.
// RUN: sed -e 's/f32/bf16/g' -e 's/x2x4xbf16>)/x2x4xf32>)/' -e 's/%q: tensor<2x4x2x8xbf16>/&, %i: tensor<2x4xi32>/' -e 's/%q scale/%q, %i scale/' -e 's/8xbf16>) -> (/8xbf16>, tensor<2x4xi32>) -> (/' %s > %t.documents.mlir
// RUN: not braid-opt %t.documents.mlir --pass-pipeline='builtin.module(exec-set-target{name=cuda},func.func(exec-select-attention{way=library}))' 2>&1 | FileCheck %s --check-prefix=DOCUMENTS
// RUN: braid-opt %t.documents.mlir --pass-pipeline='builtin.module(func.func(exec-select-attention{way=tiles}))' 2>&1 | FileCheck %s --check-prefix=APART
// DOCUMENTS: error: no library call can compute this attention: its rows hold several documents, which the library does not support
// APART: exec.attention(%{{.*}} documents %{{.*}} : tensor<2x4xi32>) scale 1.000000e+00 tiles :

// CHECK: error: no library call can compute this attention: its elements are f32, but the library supports only bf16
// CPU: error: no tiles can compute this attention: its elements are f64, but tiles support only f32 and bf16
func.func @f(%q: tensor<2x4x2x8xf32>) -> tensor<2x4x2x8xf32> {
  %o, %lse = tg.attention %q, %q, %q scale 1.0
      : (tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) -> (tensor<2x4x2x8xf32>, tensor<2x2x4xf32>)
  return %o : tensor<2x4x2x8xf32>
}

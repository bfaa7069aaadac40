// What a layout may not say, and where it stands.
//
// RUN: not braid-opt %s --comm-annotate="layout='mesh dp = 2; y: {dp} {}'" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not braid-opt %s --comm-annotate="layout='x: {dp} {}'" 2>&1 | FileCheck %s --check-prefix=NO-MESH
// RUN: not braid-opt %s --comm-annotate="layout='mesh dp = 2; mesh tp = 2'" 2>&1 | FileCheck %s --check-prefix=MESHES
// RUN: not braid-opt %s --comm-annotate="layout='mesh dp two'" 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not braid-opt %s --comm-annotate="layout='mesh dp = 2, dp = 2; x: {dp} {}'" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not braid-opt %s --comm-annotate="layout='mesh dp = 2; x: {tp} {}'" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not braid-opt %s --comm-annotate="layout='mesh dp = 2; x: {dp} {dp}'" 2>&1 | FileCheck %s --check-prefix=USED
// RUN: not braid-opt %s --comm-annotate="layout='mesh dp = 3; x: {dp} {}'" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not braid-opt %s --comm-annotate="layout='mesh dp = 2; x: {dp}'" 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not braid-opt %s --comm-annotate="layout='mesh dp = 2; x: dims {dp}'" 2>&1 | FileCheck %s --check-prefix=WORDS
// RUN: not braid-opt %s --comm-annotate="layout='mesh dp = 2; x {dp}'" 2>&1 | FileCheck %s --check-prefix=COLON
// RUN: not braid-opt %s --comm-annotate="layout='mesh dp = 2; x: {dp} {}' functions=g" 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not braid-opt %s --comm-annotate 2>&1 | FileCheck %s --check-prefix=NEITHER
// RUN: not braid-opt %s --comm-annotate=layout-file=%t.none 2>&1 | FileCheck %s --check-prefix=FILE

// NOTHING: layout:1:1: error: no argument is named 'y'
// NO-MESH: error: the layout names no mesh, and the module has 0 instead of one; add a line such as 'mesh dp = 2'
// MESHES: layout:1:1: error: the layout has two meshes; keep one
// MESH: error: the layout's mesh is 'dp two'; expected 'mesh dp = 2, tp = 4'
// TWICE: error: {{.*}}names the axis 'dp' twice
// AXIS: layout:1:1: error: argument 'x': unknown mesh axis 'tp' (mesh: {dp = 2})
// USED: layout:1:1: error: argument 'x': axis 'dp' is used twice in
// SIZE: layout:1:1: error: argument 'x': dim 0 of size 4 does not divide into 3 equal blocks over
// RANK: layout:1:1: error: argument 'x': {{.*}} has 1 dims but the tensor 'tensor<4x8xf32>' has 2
// WORDS: layout:1:1: error: argument 'x': invalid sharding 'dims {dp}': expected axes, partial, flat or priority, found 'dims'
// COLON: layout:1:1: error: expected 'mesh AXIS = SIZE, ...' or 'NAME: AXES', found 'x {dp}'
// FUNCTION: error: functions=g: the module has no such function
// NEITHER: error: comm-annotate: give the layout as text (layout=) or as a file (layout-file=)
// FILE: error: comm-annotate: cannot read '{{.*}}.none': No such file or directory
func.func @f(%x: tensor<4x8xf32> {tg.input = "x"}) -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}

// What exec-plan-memory makes of a buffer assignment that a function carries: it is taken as it
// is, and refused where it no longer fits the function.
// RUN: split-file %s %t
// RUN: braid-opt %t/taken.mlir --exec-plan-memory --exec-verify-plan | FileCheck %s --check-prefix=TAKEN
// RUN: not braid-opt %t/values.mlir --exec-plan-memory 2>&1 | FileCheck %s --check-prefix=VALUES
// RUN: not braid-opt %t/place.mlir --exec-plan-memory 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not braid-opt %t/live.mlir --exec-plan-memory 2>&1 | FileCheck %s --check-prefix=LIVE
// RUN: not braid-opt %t/form.mlir --exec-plan-memory 2>&1 | FileCheck %s --check-prefix=FORM

// Without an assignment %r would be written over %g, which nothing else reads.
// TAKEN: exec.program @f
// TAKEN: exec.buffer {{.*}} live 1 to 2 {{.*}} name "all_reduce"
// TAKEN: exec.buffer {{.*}} live 0 to 1 {{.*}} name "matmul"
// TAKEN: comm.all_reduce sum
//--- taken.mlir
comm.mesh @mesh [dp = 2]
func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {comm.program = #comm.program<@mesh>,
    exec.assignment = {live_bytes = 110784 : i64, storages = array<i64: 4096, 0, 4096, 0, 4096, 0>,
        places = [array<i64: 2, 0, 32, 1>, array<i64: 3, 0, 32, 1>, array<i64: 1, 0, 32, 1>]}} {
  %g = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %r = comm.all_reduce sum %g over @mesh {dp} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %s = exec.matmul "mk,kn->mn"(%r, %r) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %s : tensor<32x32xf32>
}

// VALUES: error: 'func.func' op has 1 values, but its buffer assignment has 2; run no pass that changes the program between comm-overlap and exec-plan-memory
//--- values.mlir
func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {
    exec.assignment = {live_bytes = 0 : i64, storages = array<i64: 4096, 0>,
        places = [array<i64: 1, 0, 32, 1>, array<i64: 1, 0, 32, 1>]}} {
  %g = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %g : tensor<32x32xf32>
}

// PLACE: error: 'func.func' op has a buffer assignment that gives a value of type 'tensor<32x32xf32>' the place array<i64: 2, 0, 32, 1>
//--- place.mlir
func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {
    exec.assignment = {live_bytes = 0 : i64, storages = array<i64: 4096, 0>, places = [array<i64: 2, 0, 32, 1>]}} {
  %g = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %g : tensor<32x32xf32>
}

// LIVE: error: was scheduled for 12288 live bytes, but its plan has 110784; schedule and plan the program for one target, with the same programs in the module
//--- live.mlir
func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {
    exec.assignment = {live_bytes = 12288 : i64, storages = array<i64: 4096, 0>, places = [array<i64: 1, 0, 32, 1>]}} {
  %g = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %g : tensor<32x32xf32>
}

// FORM: error: 'func.func' op 'exec.assignment' is {live_bytes = <i64>, places = [array<i64: storage, offset, strides…>, …], storages = array<i64: bytes, padding, …>}, found
//--- form.mlir
func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {
    exec.assignment = {live_bytes = 12288 : i64, storages = array<i64: 4096>, places = []}} {
  %g = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %g : tensor<32x32xf32>
}

// Wrong plans are refused: a value that is written over while somebody still reads it, or that is read from another
// place than its own.  Here buffer assignments are written by hand (exec.assignment), so that the planner makes no error
// by itself; the verifier compares with the program on values.
// RUN: split-file %s %t
// RUN: not braid-opt %t/unread.mlir --exec-plan-memory --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=UNREAD
// RUN: not braid-opt %t/read-again.mlir --exec-plan-memory --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not braid-opt %t/halves.mlir --exec-plan-memory --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=HALVES
// RUN: not braid-opt %t/parts.mlir --exec-plan-memory --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not braid-opt %t/results.mlir --exec-plan-memory --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=RESULTS
// RUN: not braid-opt %t/input.mlir --exec-plan-memory --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not braid-opt %t/parameter.mlir --exec-plan-memory --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=PARAMETER
// RUN: not braid-opt %t/order.mlir --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: sed 's/4, 4, 1, 2, 0, 0,/4, 4, 1, 99, 0, 0,/' %t/order.mlir | not braid-opt - --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: sed 's/4, 4, 1, 2, 0, 0,/4, 4, 1, 0, 7, 0,/' %t/order.mlir | not braid-opt - --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: sed 's/4, 4, 1, 2, 0, 0,/4, 9, 1, 2, 0, 0,/' %t/order.mlir | not braid-opt - --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: not braid-opt %t/alone.mlir --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not braid-opt %t/record.mlir --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: not braid-opt %t/form.mlir --exec-verify-plan 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: braid-opt %t/unused.mlir --exec-plan-memory --exec-verify-plan | FileCheck %s --check-prefix=UNUSED

// Two products in one place.
// UNREAD: unread.mlir:6:8: error: 'exec.matmul' op writes out 0 to bytes 0 to 64 of 'b{{[0-9]}}', where the result of 'matmul' lies and has not been read; this is an error in Braid, not in your program: please report it with the command line and the input
// UNREAD: unread.mlir:5:8: note: written here
//--- unread.mlir
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {
    exec.assignment = {live_bytes = 45568 : i64, storages = array<i64: 64, 0, 64, 0>,
        places = [array<i64: 2, 0, 4, 1>, array<i64: 2, 0, 4, 1>, array<i64: 1, 0, 4, 1>]}} {

  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = exec.matmul "mk,nk->mn"(%x, %x) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %c = exec.matmul "mk,kn->mn"(%a, %b) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}

// The first reader of %a sees it, the second does not.
// AGAIN: read-again.mlir:8:8: error: 'exec.matmul' op reads as operand 0 bytes 0 to 64 of 'b{{[0-9]}}', where the result of 'matmul' lies instead of the result of 'matmul'
// AGAIN: read-again.mlir:5:8: note: the intended value was written here
// AGAIN: read-again.mlir:7:8: note: overwritten here
//--- read-again.mlir
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {
    exec.assignment = {live_bytes = 45632 : i64, storages = array<i64: 64, 0, 64, 0, 64, 0>,
        places = [array<i64: 2, 0, 4, 1>, array<i64: 3, 0, 4, 1>, array<i64: 2, 0, 4, 1>, array<i64: 1, 0, 4, 1>]}} {

  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = exec.matmul "mk,nk->mn"(%a, %x) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %c = exec.matmul "mk,kn->mn"(%b, %x) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %d = exec.matmul "mk,kn->mn"(%a, %c) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// The parts of a concatenation lie in the wrong order.
// HALVES: error: 'exec.matmul' op reads as operand 0 byte 0 of 'b{{[0-9]}}', but the intended element, of the result of 'matmul', is byte 16 of 'b{{[0-9]}}'
//--- halves.mlir
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {
    exec.assignment = {live_bytes = 45760 : i64, storages = array<i64: 64, 0, 128, 0>,
        places = [array<i64: 2, 4, 8, 1>, array<i64: 2, 0, 8, 1>, array<i64: 2, 0, 8, 1>, array<i64: 1, 0, 4, 1>]}} {
  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = exec.matmul "mk,nk->mn"(%x, %x) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %c = exec.concat %a, %b dim 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %d = exec.matmul "mk,nk->mn"(%c, %c) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// Another value is written over one row of %a.
// PARTS: error: 'exec.matmul' op writes out 0 to bytes 32 to 48 of 'b{{[0-9]}}', where the result of 'matmul' lies and has not been read
//--- parts.mlir
func.func @f(%x: tensor<4x4xf32>, %y: tensor<1x4xf32>) -> tensor<4x1xf32> attributes {
    exec.assignment = {live_bytes = 45632 : i64, storages = array<i64: 16, 0, 64, 0>,
        places = [array<i64: 3, 0, 4, 1>, array<i64: 3, 8, 4, 1>, array<i64: 2, 0, 1, 1>]}} {
  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = exec.matmul "mk,kn->mn"(%y, %x) : tensor<1x4xf32>, tensor<4x4xf32> -> tensor<1x4xf32>
  %c = exec.matmul "mk,nk->mn"(%a, %b) : tensor<4x4xf32>, tensor<1x4xf32> -> tensor<4x1xf32>
  return %c : tensor<4x1xf32>
}

// Two results exchange their places.
// RESULTS: error: 'exec.buffer' op gives the caller bytes 0 to 64 of 'b{{[0-9]}}', where the result of 'matmul' lies instead of the result of 'matmul'
//--- results.mlir
func.func @f(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {
    exec.assignment = {live_bytes = 45632 : i64, storages = array<i64: 64, 0, 64, 0>,
        places = [array<i64: 1, 0, 4, 1>, array<i64: 2, 0, 4, 1>]}} {
  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = exec.matmul "mk,nk->mn"(%x, %x) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %b, %a : tensor<4x4xf32>, tensor<4x4xf32>
}

// A result is written over an input that is read later.
// INPUT: error: 'exec.matmul' op reads as operand 0 bytes 0 to 64 of 'b1', where the result of 'matmul' lies instead of the argument of the program in 'b1'
// INPUT: note: overwritten here
//--- input.mlir
func.func @f(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {
    exec.assignment = {live_bytes = 45568 : i64, storages = array<i64: 64, 0>,
        places = [array<i64: 0, 0, 4, 1>, array<i64: 2, 0, 4, 1>]}} {
  %a = exec.matmul "mk,kn->mn"(%y, %y) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = exec.matmul "mk,nk->mn"(%x, %a) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %b : tensor<4x4xf32>
}

// A parameter that is not updated is written over after its last read.
// PARAMETER: error: 'exec.matmul' op writes bytes 0 to 64 of 'w', which belong to 'w', but the program does not update it
//--- parameter.mlir
func.func @f(%w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {
    exec.assignment = {live_bytes = 45632 : i64, storages = array<i64: 64, 0, 64, 0>,
        places = [array<i64: 3, 0, 4, 1>, array<i64: 0, 0, 4, 1>, array<i64: 2, 0, 4, 1>]}} {
  %a = exec.matmul "mk,kn->mn"(%x, %w) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = exec.matmul "mk,nk->mn"(%a, %a) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %c = exec.matmul "mk,nk->mn"(%b, %b) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}

// An action reads before the write that it is for, as if launches had been put together that must not be.
// ORDER: order.mlir:9:3: error: 'exec.matmul' op reads as operand 0 bytes 0 to 64 of 'a', where the result of 'matmul' lies instead of the result of 'matmul'
// ORDER: order.mlir:10:3: note: the intended value was written here
// ORDER: order.mlir:8:3: note: overwritten here
//--- order.mlir
exec.program @f arena 256 attributes {exec.reads = {actions = [array<i64: 2, 4, 4, 1, -1, 0, 0, 2, 4, 4, 1, -1, 0, 0>,
    array<i64: 2, 4, 4, 1, 2, 0, 0, 2, 4, 4, 1, 0, 0, 0>, array<i64: 2, 4, 4, 1, -1, 0, 0, 2, 4, 4, 1, -1, 0, 0>],
    arguments = [""], results = array<i64: 2, 4, 4, 1, 1, 0, 0>, updates = [""]}} {
  exec.buffer @x at 0 bytes 64 live -1 to 2 category inputs name "x" "input" role "" : tensor<4x4xf32>
  exec.buffer @a at 64 bytes 64 live 0 to 2 category activations name "a"
  exec.buffer @y at 128 bytes 64 live 1 to 3 category activations name "y" "result" role "y" : tensor<4x4xf32>
  %0 = exec.ref @x + 0 : <4x4xf32, [4, 1]>  %1 = exec.ref @a + 0 : <4x4xf32, [4, 1]>  %2 = exec.ref @y + 0 : <4x4xf32, [4, 1]>
  exec.matmul "ij,jk->ik"(%0, %0) outs(%1 : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  exec.matmul "ij,jk->ik"(%1, %1) outs(%2 : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  exec.matmul "ij,kj->ik"(%0, %0) outs(%1 : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
}

// Also where nothing says what the references were: a value is written over that nobody has read.
// ALONE: alone.mlir:9:3: error: 'exec.matmul' op writes out 0 to bytes 0 to 64 of 'a', where the result of 'matmul' lies and has not been read; this is an error in Braid
// ALONE: alone.mlir:8:3: note: written here
//--- alone.mlir
exec.program @f arena 256 {
  exec.buffer @x at 0 bytes 64 live -1 to 2 category inputs name "x" "input" role "" : tensor<4x4xf32>
  exec.buffer @a at 64 bytes 64 live 0 to 2 category activations name "a"
  exec.buffer @y at 128 bytes 64 live 2 to 3 category activations name "y" "result" role "y" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %a = exec.ref @a + 0 : <4x4xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4x4xf32, [4, 1]>
  exec.matmul "ij,jk->ik"(%x, %x) outs(%a : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  exec.matmul "ij,kj->ik"(%x, %x) outs(%a : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  exec.matmul "ij,kj->ik"(%a, %x) outs(%y : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
}

// A record of an action, or of a result, that is not there; of a larger tensor than the operand; and of too few numbers.
// RECORD: error: 'exec.program' op has an 'exec.reads' that does not fit the program
//--- record.mlir
exec.program @f arena 256 attributes {exec.reads = {actions = [array<i64: 9>], arguments = [], results = array<i64>, updates = []}} {
}

// FORM: error: 'exec.program' op 'exec.reads' is {actions = [array<i64: operands…>, …], arguments = [names]
//--- form.mlir
exec.program @f arena 256 attributes {exec.reads = {actions = []}} {
}

// A result that the program does not use may be written over, and the record goes.
// UNUSED: exec.program @f arena {{[0-9]+}} {
//--- unused.mlir
#id = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> attributes {
    exec.assignment = {live_bytes = 192 : i64, storages = array<i64: 32, 0, 32, 0>,
        places = [array<i64: 2, 0, 1>, array<i64: 1, 0, 1>, array<i64: 1, 0, 1>]}} {
  %0:2 = exec.kernel "two"(%x) space [8] : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%in: tensor<8xf32>):
    %empty = tensor.empty() : tensor<8xf32>
    %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%in : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
    ^bb0(%v: f32, %out: f32):
      %n = arith.negf %v : f32
      linalg.yield %n : f32
    } -> tensor<8xf32>
    %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%in : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
    ^bb0(%v: f32, %out: f32):
      %n = math.exp %v : f32
      linalg.yield %n : f32
    } -> tensor<8xf32>
    exec.yield %a, %b : tensor<8xf32>, tensor<8xf32>
  }
  %1 = exec.kernel "one"(%0#0) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%in: tensor<8xf32>):
    %empty = tensor.empty() : tensor<8xf32>
    %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%in : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
    ^bb0(%v: f32, %out: f32):
      %n = arith.negf %v : f32
      linalg.yield %n : f32
    } -> tensor<8xf32>
    exec.yield %a : tensor<8xf32>
  }
  return %1 : tensor<8xf32>
}

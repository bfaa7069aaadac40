// The stages of a pipeline: each rank runs the function of its stage, which sends what
// the next one receives.  Send, recv and barrier in every form: on values, in order, in
// memory, and in a binary.
// RUN: braid-opt %s --comm-verify-order --exec-form-kernels --exec-plan-memory --exec-outline-kernels --exec-batch-launches --exec-verify-plan --exec-verify-memory --comm-verify-order -o %t.mlir
// RUN: braidc %t.mlir --emit=cpp | FileCheck %s
// RUN: braidc %t.mlir -o %t.exe
// RUN: %t.exe run --program train --outputs %t.st --threads 1
// RUN: braid-interp %s --inputs=%t.st --expect=%t.st
// RUN: braid-interp %t.mlir --inputs=%t.st --expect=%t.st

// A rank names the other side by its number in the group; what it does not send, or
// receive, has the place of the other.
// CHECK:      static const br_segment_desc segments_0[] = {
// CHECK-NEXT:   {.send = [[H:[0-9]+]], .recv = [[H]], .count = 24, .send_rows = 1, .recv_rows = 1}, // exp
// CHECK-NEXT:   {.send = [[B:[0-9]+]], .recv = [[B]], .count = 5, .send_rows = 1, .recv_rows = 1}, // b
// CHECK:      static const br_collective_desc collectives[] = {
// CHECK-NEXT:   {.kind = BR_SEND, .dtype = BR_F32, .group = {{[0-9]+}}, .root = 1, .segments = segments_0, .n_segments = 2}, // 0
// CHECK-NEXT:   {.kind = BR_BARRIER, .dtype = BR_I1, .group = {{[0-9]+}}}, // 1
// CHECK-NEXT:   {.kind = BR_RECV, .dtype = BR_F32, .group = {{[0-9]+}}, .root = 1, .segments = segments_2, .n_segments = 1}, // 2
// CHECK:      static const br_collective_desc collectives_of_1[] = {
// CHECK-NEXT:   {.kind = BR_RECV, .dtype = BR_F32, .group = {{[0-9]+}}, .root = 0, .segments = segments_0_of_1, .n_segments = 2}, // 0
// CHECK-NEXT:   {.kind = BR_BARRIER, .dtype = BR_I1, .group = {{[0-9]+}}}, // 1
// CHECK-NEXT:   {.kind = BR_SEND, .dtype = BR_F32, .group = {{[0-9]+}}, .root = 0, .segments = segments_2_of_1, .n_segments = 1}, // 2

comm.mesh @mesh [pp = 2, dp = 2]

func.func @first(%x: tensor<4x6xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<8x6xf32>},
                 %b: tensor<5xf32> {tg.input = "b"})
    -> (tensor<5xf32> {tg.output = "back", comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh, pp = [0]>, comm.entry = "train"} {
  %h = math.exp %x : tensor<4x6xf32>
  comm.send %h, %b to 1 over @mesh {pp} : (tensor<4x6xf32>, tensor<5xf32>) -> ()
  comm.barrier over @mesh {pp, dp} : () -> ()
  %back = comm.recv from 1 over @mesh {pp} : () -> tensor<5xf32>
  return %back : tensor<5xf32>
}

func.func @second() -> (tensor<4x6xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<8x6xf32>})
    attributes {comm.program = #comm.program<@mesh, pp = [1]>, comm.entry = "train"} {
  %t = comm.start {
    %h:2 = comm.recv from 0 over @mesh {pp} : () -> (tensor<4x6xf32>, tensor<5xf32>)
  } : !comm.ticket<tensor<4x6xf32>, tensor<5xf32>>
  %h:2 = comm.wait %t : !comm.ticket<tensor<4x6xf32>, tensor<5xf32>> -> tensor<4x6xf32>, tensor<5xf32>
  %y = arith.mulf %h#0, %h#0 : tensor<4x6xf32>
  comm.barrier over @mesh {pp, dp} : () -> ()
  %z = arith.addf %h#1, %h#1 : tensor<5xf32>
  comm.send %z to 0 over @mesh {pp} : (tensor<5xf32>) -> ()
  return %y : tensor<4x6xf32>
}

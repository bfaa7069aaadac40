// Two kinds of ranks, a root and its workers: each has a function of a program, and
// tables with its own tensors, places, collectives and arena.  What a rank does not
// send or receive has the place of the other; workers hold no tensor, and are told the
// program by the name that all ranks have for it.
// RUN: braid-opt %s --comm-root-parallel --exec-form-kernels --exec-plan-memory --exec-outline-kernels --exec-batch-launches --exec-verify-plan --exec-verify-memory --comm-verify-order -o %t.mlir
// RUN: braidc %t.mlir --emit=cpp | FileCheck %s
// RUN: FileCheck %s --check-prefix=MEMORY < %t.mlir

// The interpreter agrees, on the module before and on that in memory.
// RUN: braidc %t.mlir -o %t.exe
// RUN: %t.exe run --program train --outputs %t.st --threads 1 && braid-interp %s --inputs=%t.st --expect=%t.st && braid-interp %t.mlir --inputs=%t.st --expect=%t.st

// A tensor says who holds it; others use the bytes where it lies.
// MEMORY: exec.tensor @w at 0 {{.*}}comm.program = #comm.program<@mesh, dp = [0]>
// MEMORY: exec.program @train arena
// MEMORY-SAME: {comm.entry = "train", comm.program = #comm.program<@mesh, dp = [0]>}
// MEMORY: exec.program @train_workers arena
// MEMORY-SAME: {comm.entry = "train", comm.program = #comm.program<@mesh, dp = [1, 2, 3]>}
// MEMORY: exec.buffer @{{.*}} at 0 bytes

// CHECK-LABEL: namespace at::step_train {
// CHECK:      // 0: scatter
// CHECK:      if (br_start(ctx, 0) != BR_OK || br_wait(ctx, 0) != BR_OK)
// CHECK:      br_start(ctx, 5)
// CHECK-LABEL: namespace at::step_train_workers {
// CHECK:      // 0: scatter
// CHECK:      if (br_start(ctx, 0) != BR_OK || br_wait(ctx, 0) != BR_OK)
// CHECK:      br_start(ctx, 5)

// CHECK-LABEL: static const br_tensor tensors[] = {
// CHECK-NEXT:   {.name = "w", .category = BR_PARAMETERS, .dtype = BR_F32,
// CHECK:      static const br_io train_ios[] = {
// CHECK-NEXT:   {.name = "x", .role = "", .dtype = BR_F32, .rank = 2, .shape = {{[{]8, 3[}]}}, .offset = {{[0-9]+}}, .bytes = 96},
// CHECK-NEXT:   {.name = "term", .role = "", .dtype = BR_F32, .rank = 0, .offset = {{[0-9]+}}, .bytes = 4, .partial = 1},
// CHECK-NEXT:   {.name = "y", .role = "y", .dtype = BR_F32, .rank = 2, .shape = {{[{]8, 3[}]}}, .offset = {{[0-9]+}}, .bytes = 96},
// CHECK-NEXT:   {.name = "terms", .role = "terms", .dtype = BR_F32, .rank = 0, .offset = {{[0-9]+}}, .bytes = 4},
// CHECK:      static const br_program programs[] = {
// CHECK-NEXT:   {.name = "train", .run = braid::step_train,
// CHECK-NEXT:    .ios = train_ios, .n_inputs = 2, .n_results = 2,
// CHECK-NEXT:    .actions = train_actions, .n_actions = {{[0-9]+}}},
// CHECK-NOT:  br_tensor
// CHECK:      static const br_io train_workers_ios[] = {
// CHECK-NEXT:   {.name = "term", .role = "", .dtype = BR_F32, .rank = 0, .offset = {{[0-9]+}}, .bytes = 4, .partial = 1},
// CHECK-NEXT:   {.name = "terms", .role = "terms", .dtype = BR_F32, .rank = 0, .offset = {{[0-9]+}}, .bytes = 4},
// CHECK:      static const br_program programs_of_1[] = {
// CHECK-NEXT:   {.name = "train", .run = braid::step_train_workers,
// CHECK-NEXT:    .ios = train_workers_ios, .n_inputs = 1, .n_results = 1,
// CHECK-NEXT:    .actions = train_workers_actions, .n_actions = {{[0-9]+}}},

// A count is that of the whole, a block's is not.
// CHECK:      static const int32_t coordinates[] = {0};
// CHECK:      static const br_segment_desc segments_0[] = {
// CHECK-NEXT:   {.send = {{[0-9]+}}, .recv = {{[0-9]+}}, .count = 24, .send_rows = 1, .recv_rows = 1}, // scatter
// CHECK:      static const br_segment_desc segments_1[] = {
// CHECK-NEXT:   {.send = 0, .recv = 0, .count = 3, .send_rows = 1, .recv_rows = 1}, // w
// CHECK:      static const br_collective_desc collectives[] = {
// CHECK-NEXT:   {.kind = BR_SCATTER, .dtype = BR_F32, .group = 1, .root = 0, .segments = segments_0, .n_segments = 1}, // 0
// CHECK-NEXT:   {.kind = BR_BROADCAST, .dtype = BR_F32, .group = 1, .root = 0, .segments = segments_1, .n_segments = 1}, // 1
// CHECK-NEXT:   {.kind = BR_REDUCE, .reduction = BR_SUM, .dtype = BR_F32, .group = 1, .root = 0,
// CHECK-NEXT:   .segments = segments_2, .n_segments = 1}, // 2
// CHECK-NEXT:   {.kind = BR_REDUCE, .reduction = BR_SUM, .dtype = BR_F32, .group = 1, .root = 0,
// CHECK-NEXT:   .segments = segments_3, .n_segments = 1}, // 3
// CHECK-NEXT:   {.kind = BR_GATHER, .dtype = BR_F32, .group = 1, .root = 0, .segments = segments_4, .n_segments = 1}, // 4
// CHECK-NEXT:   {.kind = BR_BROADCAST, .dtype = BR_F32, .group = 1, .root = 0, .segments = segments_5, .n_segments = 1}, // 5
// CHECK:      static const int32_t coordinates_of_1[] = {1, 2, 3};
// CHECK:      static const br_segment_desc segments_0_of_1[] = {
// CHECK-NEXT:   {.send = [[BLOCK:[0-9]+]], .recv = [[BLOCK]], .count = 24, .send_rows = 1, .recv_rows = 1}, // scatter
// CHECK:      static const br_collective_desc collectives_of_1[] = {
// CHECK-NEXT:   {.kind = BR_SCATTER, .dtype = BR_F32, .group = 1, .root = 0, .segments = segments_0_of_1, .n_segments = 1}, // 0
// CHECK-NEXT:   {.kind = BR_BROADCAST, .dtype = BR_F32, .group = 1, .root = 0, .segments = segments_1_of_1, .n_segments = 1}, // 1
// CHECK:        {.kind = BR_BROADCAST, .dtype = BR_F32, .group = 1, .root = 0, .segments = segments_5_of_1, .n_segments = 1}, // 5

// CHECK-LABEL: static const br_model model_of_1 = {
// CHECK-NOT:  .tensors
// CHECK:      .programs = programs_of_1, .n_programs = 1,
// CHECK:      .collectives = collectives_of_1, .n_collectives = 6,
// CHECK:      .axis = 0,
// CHECK-NEXT: .coordinates = coordinates_of_1, .n_coordinates = 3};
// CHECK-LABEL: static const br_model model = {
// CHECK:      .tensors = tensors, .n_tensors = 1,
// CHECK-NEXT: .programs = programs, .n_programs = 1,
// CHECK:      .coordinates = coordinates, .n_coordinates = 1,
// CHECK-NEXT: .others = &model_of_1};
comm.mesh @mesh [dp = 4]

func.func @train(%x: tensor<2x3xf32> {comm.global = tensor<8x3xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>, tg.input = "x"},
                 %w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %term: tensor<f32> {comm.sharding = #comm.sharding<@mesh, partial sum {dp}>, tg.input = "term"})
    -> (tensor<2x3xf32> {comm.global = tensor<8x3xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>, tg.output = "y"},
        tensor<f32> {tg.output = "terms"}, tensor<3xf32> {tg.updates = "w"}) attributes {comm.program = #comm.program<@mesh>} {
  %r = tg.broadcast %w dims [1] : tensor<3xf32> -> tensor<2x3xf32>
  %y = arith.mulf %x, %r : tensor<2x3xf32>
  %p = tg.reduce sum %y dims [0] : tensor<2x3xf32> -> tensor<3xf32>
  %g = comm.all_reduce sum %p over @mesh {dp} : (tensor<3xf32>) -> tensor<3xf32>
  %new = arith.subf %w, %g : tensor<3xf32>
  %terms = comm.all_reduce sum %term over @mesh {dp} : (tensor<f32>) -> tensor<f32>
  return %y, %terms, %new : tensor<2x3xf32>, tensor<f32>, tensor<3xf32>
}

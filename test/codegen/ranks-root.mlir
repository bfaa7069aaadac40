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

// CHECK-LABEL: br_status step_train(br_context *ctx) {
// CHECK:      // 0: scatter
// CHECK:      if (br_start(ctx, 0) != BR_OK || br_wait(ctx, 0) != BR_OK)
// CHECK:      br_start(ctx, 5)
// CHECK-LABEL: br_status step_train_workers(br_context *ctx) {
// CHECK:      // 0: scatter
// CHECK:      if (br_start(ctx, 0) != BR_OK || br_wait(ctx, 0) != BR_OK)
// CHECK:      br_start(ctx, 5)

// CHECK-LABEL: static const br_tensor tensors[] = {
// CHECK-NEXT:   {"w", BR_PARAMETERS, BR_F32,
// CHECK:      static const br_io train_ios[] = {
// CHECK-NEXT:   {"x", "", BR_F32, 2, {8, 3}, {{[0-9]+}}, 96, {0, 0}, 0, 0, 0, 0},
// CHECK-NEXT:   {"term", "", BR_F32, 0, {}, {{[0-9]+}}, 4, {}, 0, 1, 0, 0},
// CHECK-NEXT:   {"y", "y", BR_F32, 2, {8, 3}, {{[0-9]+}}, 96, {0, 0}, 0, 0, 0, 0},
// CHECK-NEXT:   {"terms", "terms", BR_F32, 0, {}, {{[0-9]+}}, 4, {}, 0, 0, 0, 0},
// CHECK:      static const br_program programs[] = {
// CHECK-NEXT:   {"train", braid::step_train, train_ios, 2, 2, train_actions, {{[0-9]+}}},
// CHECK-NOT:  br_tensor
// CHECK:      static const br_io train_workers_ios[] = {
// CHECK-NEXT:   {"term", "", BR_F32, 0, {}, {{[0-9]+}}, 4, {}, 0, 1, 0, 0},
// CHECK-NEXT:   {"terms", "terms", BR_F32, 0, {}, {{[0-9]+}}, 4, {}, 0, 0, 0, 0},
// CHECK:      static const br_program programs_of_1[] = {
// CHECK-NEXT:   {"train", braid::step_train_workers, train_workers_ios, 1, 1, train_workers_actions, {{[0-9]+}}},

// A count is that of the whole, a block's is not.
// CHECK:      static const int32_t coordinates[] = {0};
// CHECK:      static const br_segment_desc segments_0[] = {
// CHECK-NEXT:   {{[{][0-9]+, [0-9]+}}, 24, 1, 1}, // scatter
// CHECK:      static const br_segment_desc segments_1[] = {
// CHECK-NEXT:   {0, 0, 3, 1, 1}, // w
// CHECK:      static const br_collective_desc collectives[] = {
// CHECK-NEXT:   {BR_SCATTER, BR_SUM, BR_F32, 1, 0, nullptr, 0, segments_0, 1}, // 0
// CHECK-NEXT:   {BR_BROADCAST, BR_SUM, BR_F32, 1, 0, nullptr, 0, segments_1, 1}, // 1
// CHECK-NEXT:   {BR_REDUCE, BR_SUM, BR_F32, 1, 0, nullptr, 0, segments_2, 1}, // 2
// CHECK-NEXT:   {BR_REDUCE, BR_SUM, BR_F32, 1, 0, nullptr, 0, segments_3, 1}, // 3
// CHECK-NEXT:   {BR_GATHER, BR_SUM, BR_F32, 1, 0, nullptr, 0, segments_4, 1}, // 4
// CHECK-NEXT:   {BR_BROADCAST, BR_SUM, BR_F32, 1, 0, nullptr, 0, segments_5, 1}, // 5
// CHECK:      static const int32_t coordinates_of_1[] = {1, 2, 3};
// CHECK:      static const br_segment_desc segments_0_of_1[] = {
// CHECK-NEXT:   {[[BLOCK:[0-9]+]], [[BLOCK]], 24, 1, 1}, // scatter
// CHECK:      static const br_collective_desc collectives_of_1[] = {
// CHECK-NEXT:   {BR_SCATTER, BR_SUM, BR_F32, 1, 0, nullptr, 0, segments_0_of_1, 1}, // 0
// CHECK-NEXT:   {BR_BROADCAST, BR_SUM, BR_F32, 1, 0, nullptr, 0, segments_1_of_1, 1}, // 1
// CHECK:        {BR_BROADCAST, BR_SUM, BR_F32, 1, 0, nullptr, 0, segments_5_of_1, 1}, // 5

// CHECK-LABEL: static const br_model model_of_1 = {
// CHECK:      /*tensors=*/nullptr, 0,
// CHECK-NEXT: /*programs=*/programs_of_1, 1,
// CHECK:      /*collectives=*/collectives_of_1, 6,
// CHECK:      /*axis=*/0,
// CHECK-NEXT: /*coordinates=*/coordinates_of_1, 3,
// CHECK-NEXT: /*others=*/nullptr,
// CHECK-LABEL: static const br_model model = {
// CHECK:      /*tensors=*/tensors, 1,
// CHECK-NEXT: /*programs=*/programs, 1,
// CHECK:      /*coordinates=*/coordinates, 1,
// CHECK-NEXT: /*others=*/&model_of_1,
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

// A program of ranks: the tables have the mesh, the groups, which part of a tensor
// a rank holds, and a descriptor for each collective; the step starts and waits for
// them by number.  Nothing depends on the rank.
// RUN: braid-opt %s --exec-form-kernels --exec-plan-memory --exec-outline-kernels --exec-batch-launches --exec-verify-memory -o %t.mlir
// RUN: braidc %t.mlir --emit=cpp | FileCheck %s

// The interpreter agrees, whose ranks have parts of the same logical tensors.
// RUN: braidc %t.mlir -o %t.exe
// RUN: %t.exe run --program collectives --outputs %t.st --threads 1 && braid-interp %s --function=collectives --inputs=%t.st --expect=%t.st
// RUN: %t.exe run --program train --outputs %t.st --threads 1 && braid-interp %s --function=train --inputs=%t.st --expect=%t.st
// RUN: %t.exe run --program alone --outputs %t.st --threads 2 && braid-interp %s --function=alone --inputs=%t.st --expect=%t.st

comm.mesh @mesh [dp = 2, tp = 3]

// Loops of copies of blocks, merged where they are one.
// CHECK-LABEL: namespace braid {
// CHECK:      static constexpr BlockCopy copy_0 = {.bytes = 4, .loops = 2, .size = {6, 2}, .from = {6, 1}, .to = {2, 1}};
// CHECK:      static constexpr BlockCopy copy_1 = {.bytes = 2, .loops = 1, .size = {4}, .from = {1}, .to = {1}};

// CHECK-LABEL: namespace at::step_collectives {
// CHECK:      // 0: all_reduce -> mean [6 x 6] and 1 more, mean over {dp}, sends 192 bytes;
// CHECK:      if (br_start(ctx, 0) != BR_OK || br_wait(ctx, 0) != BR_OK)
// CHECK-NEXT:   return BR_ERROR;
// CHECK:      // 1: all_gather -> inner [6 x 18], over {tp}, sends 288 bytes;
// CHECK:      // 5: permute -> moved [6 x 6], over {tp}, sends 144 bytes;
// CHECK:      // 7: barrier, over {tp, dp}, sends 0 bytes;
// CHECK:      if (br_start(ctx, 7) != BR_OK || br_wait(ctx, 7) != BR_OK)
// CHECK-NEXT:   return BR_ERROR;
// CHECK-NEXT: return BR_OK;

// CHECK-LABEL: namespace at::step_train {
// CHECK:      // 0: all_reduce -> w [4 x 6], sum over {dp, tp}, sends 80 bytes, predicted 31.2 us, exposed 0.0 us, waits for a;
// CHECK-NEXT: //   ranks.mlir
// CHECK-NEXT: // of a
// CHECK-NEXT: m.at({{[0-9]+}});
// CHECK-NEXT: if (br_start(ctx, 8) != BR_OK)
// CHECK-NEXT:   return BR_ERROR;
// CHECK:      launch_lanes(ctx, 1, 4, exp_kernel
// CHECK:      // 2: wait for all_reduce 8;
// CHECK-NEXT: m.at(2);
// CHECK-NEXT: if (br_wait(ctx, 8) != BR_OK)
// CHECK-NEXT:   return BR_ERROR;

// The number of a block decides where its copy begins; a flat range may be short.
// CHECK-LABEL: namespace at::step_alone {
// CHECK:      *static_cast<int32_t *>(m[[[NUMBER:[a-z0-9_]+]]]) = br_axis_index(ctx, 2);
// CHECK:      launch_rows(ctx, 1, 1, convert_kernel, m[[[NUMBER]]],
// CHECK:      copy_block(ctx, copy_0, m[{{[a-z0-9_]+}}], block_number(ctx, 2, 3, 2) * 2, m[{{[a-z0-9_]+}}], 0);
// CHECK:      // {{[0-9]+}}: assemble -> again [2 x 4];
// CHECK-NEXT: // reads slice, slice@2
// CHECK-NEXT: m.at({{[0-9]+}});
// CHECK-NEXT: copy_block(ctx, copy_1, m[slice], 0, m[again],
// CHECK-NEXT:            block_number(ctx, 1, 2, 1) * 4);
// CHECK-NEXT: copy_block(ctx, copy_1, m[slice_2], 0, m[again],
// CHECK-NEXT:            block_number(ctx, 1, 2, 0) * 4);
// CHECK:      take_range(ctx, m[{{[a-z0-9_]+}}], 20, block_number(ctx, 2, 3, 0), 8, m[{{[a-z0-9_]+}}]);
// CHECK:      put_range(ctx, m[{{[a-z0-9_]+}}], block_number(ctx, 2, 3, 2), 8, m[{{[a-z0-9_]+}}], 20);

// Shapes are those of whole tensors as checkpoints have them; strides and bytes
// those of the part.  A transposed tensor has its sharded dims exchanged, too.
// CHECK-LABEL: static const br_tensor tensors[] = {
// CHECK-NEXT:   {.name = "w", .category = BR_PARAMETERS, .dtype = BR_BF16, .rank = 2, .shape = {6, 8}, .stride = {1, 6},
// CHECK-NEXT:    .offset = 0, .bytes = 48, .init = BR_INIT_NORMAL, .init_b = 1.0, .stream = 0, .checkpoint = 1,
// CHECK-NEXT:    .dims = {0, 1}},
// CHECK-NEXT:   {.name = "s", .category = BR_PARAMETERS, .dtype = BR_F32, .rank = 2, .shape = {6, 4}, .stride = {1, 2},
// CHECK-NEXT:    .offset = 64, .bytes = 16, .init = BR_INIT_ONES, .stream = 1, .checkpoint = 1,
// CHECK-NEXT:    .dims = {2, 0}, .flat = 1},
// CHECK-NEXT:   {.name = "a", .category = BR_GRADIENTS, .dtype = BR_BF16, .rank = 2, .shape = {4, 6}, .stride = {6, 1},
// CHECK-NEXT:    .offset = 128, .bytes = 48, .init = BR_INIT_ZEROS, .stream = 2, .checkpoint = 0,
// CHECK-NEXT:    .partial = 3},
// CHECK:      static const br_io collectives_ios[] = {
// CHECK-NEXT:   {.name = "x", .role = "", .dtype = BR_F32, .rank = 2, .shape = {12, 18}, .offset = {{[0-9]+}}, .bytes = 144,
// CHECK-NEXT:    .dims = {1, 2}},
// CHECK:        {.name = "range", .role = "range", .dtype = BR_F32, .rank = 2, .shape = {6, 6}, .offset = {{[0-9]+}}, .bytes = 24,
// CHECK-NEXT:    .flat = 3},

// CHECK:      static const br_axis mesh[] = {
// CHECK-NEXT:   {.name = "dp", .size = 2},
// CHECK-NEXT:   {.name = "tp", .size = 3},
// CHECK-NEXT: };
// CHECK:      static const br_group groups[] = {
// CHECK-NEXT:   {.n_axes = 0}, // 0: {}
// CHECK-NEXT:   {.n_axes = 1, .axes = {0}}, // 1: {dp}
// CHECK-NEXT:   {.n_axes = 1, .axes = {1}}, // 2: {tp}
// CHECK-NEXT:   {.n_axes = 2, .axes = {0, 1}}, // 3: {dp, tp}
// CHECK-NEXT:   {.n_axes = 2, .axes = {1, 0}}, // 4: {tp, dp}
// CHECK-NEXT: };

// Blocks along an inner dim are of every row.
// CHECK:      static const br_segment_desc segments_0[] = {
// CHECK-NEXT:   {.send = [[X:[0-9]+]], .recv = {{[0-9]+}}, .count = 36, .send_rows = 1, .recv_rows = 1}, // mean
// CHECK-NEXT:   {.send = {{[0-9]+}}, .recv = {{[0-9]+}}, .count = 12, .send_rows = 1, .recv_rows = 1}, // mean_b
// CHECK-NEXT: };
// CHECK:        {.send = [[X]], .recv = {{[0-9]+}}, .count = 108, .send_rows = 1, .recv_rows = 6}, // inner
// CHECK:        {.send = [[X]], .recv = {{[0-9]+}}, .count = 36, .send_rows = 6, .recv_rows = 1}, // scattered
// CHECK:        {.send = [[X]], .recv = {{[0-9]+}}, .count = 36, .send_rows = 6, .recv_rows = 1}, // exchanged
// CHECK:      static const int32_t pairs_5[] = {0, 1, 1, 2};
// CHECK:      static const br_collective_desc collectives[] = {
// CHECK-NEXT:   {.kind = BR_ALL_REDUCE, .reduction = BR_MEAN, .dtype = BR_F32, .group = 1, .segments = segments_0, .n_segments = 2}, // 0
// CHECK-NEXT:   {.kind = BR_ALL_GATHER, .dtype = BR_F32, .group = 2, .segments = segments_1, .n_segments = 1}, // 1
// CHECK-NEXT:   {.kind = BR_REDUCE_SCATTER, .reduction = BR_MAX, .dtype = BR_F32, .group = 2,
// CHECK-NEXT:   .segments = segments_2, .n_segments = 1}, // 2
// CHECK-NEXT:   {.kind = BR_ALL_TO_ALL, .dtype = BR_F32, .group = 2, .segments = segments_3, .n_segments = 1}, // 3
// CHECK-NEXT:   {.kind = BR_BROADCAST, .dtype = BR_F32, .group = 1, .root = 1, .segments = segments_4, .n_segments = 1}, // 4
// CHECK-NEXT:   {.kind = BR_PERMUTE, .dtype = BR_F32, .group = 2, .pairs = pairs_5, .n_pairs = 2,
// CHECK-NEXT:   .segments = segments_5, .n_segments = 1}, // 5
// CHECK-NEXT:   {.kind = BR_REDUCE_SCATTER, .reduction = BR_SUM, .dtype = BR_F32, .group = 3,
// CHECK-NEXT:   .segments = segments_6, .n_segments = 1}, // 6
// CHECK-NEXT:   {.kind = BR_BARRIER, .dtype = BR_I1, .group = 4}, // 7
// CHECK-NEXT:   {.kind = BR_ALL_REDUCE, .reduction = BR_SUM, .dtype = BR_BF16, .group = 3, .segments = segments_8, .n_segments = 1}, // 8
// CHECK-NEXT: };
// CHECK:      .mesh = mesh, .n_axes = 2,
// CHECK-NEXT: .groups = groups, .n_groups = 5,
// CHECK-NEXT: .collectives = collectives, .n_collectives = 9}

func.func @collectives(%x: tensor<6x6xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp} {tp}>, comm.global = tensor<12x18xf32>},
                       %b: tensor<12xf32> {tg.input = "b"})
    -> (tensor<6x6xf32> {tg.output = "mean", comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<6x18xf32>},
        tensor<12xf32> {tg.output = "mean_b"},
        tensor<6x18xf32> {tg.output = "inner", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<12x18xf32>},
        tensor<6x2xf32> {tg.output = "scattered", comm.sharding = #comm.sharding<@mesh, {dp} {tp}>, comm.global = tensor<12x6xf32>},
        tensor<18x2xf32> {tg.output = "exchanged", comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>, comm.global = tensor<108x2xf32>},
        tensor<6x6xf32> {tg.output = "roots", comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<6x18xf32>},
        tensor<6x6xf32> {tg.output = "moved", comm.sharding = #comm.sharding<@mesh, {dp} {tp}>, comm.global = tensor<12x18xf32>},
        tensor<6xf32> {tg.output = "range", comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp, tp}>, comm.global = tensor<6x6xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %mean:2 = comm.all_reduce mean %x, %b over @mesh {dp} : (tensor<6x6xf32>, tensor<12xf32>) -> (tensor<6x6xf32>, tensor<12xf32>)
  %inner = comm.all_gather %x dims [1] over @mesh {tp} : (tensor<6x6xf32>) -> tensor<6x18xf32>
  %scattered = comm.reduce_scatter max %x dims [1] over @mesh {tp} : (tensor<6x6xf32>) -> tensor<6x2xf32>
  %exchanged = comm.all_to_all %x split [1] concat [0] over @mesh {tp} : (tensor<6x6xf32>) -> tensor<18x2xf32>
  %roots = comm.broadcast %x root 1 over @mesh {dp} : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %moved = comm.permute %x pairs [0 -> 1, 1 -> 2] over @mesh {tp} : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %range = comm.reduce_scatter sum %x dims [flat] over @mesh {dp, tp} : (tensor<6x6xf32>) -> tensor<6xf32>
  comm.barrier over @mesh {tp, dp} : () -> ()
  return %mean#0, %mean#1, %inner, %scattered, %exchanged, %roots, %moved, %range
      : tensor<6x6xf32>, tensor<12xf32>, tensor<6x18xf32>, tensor<6x2xf32>, tensor<18x2xf32>, tensor<6x6xf32>, tensor<6x6xf32>, tensor<6xf32>
}

func.func @train(%w: tensor<4x6xbf16> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 1.0>, transposed>, comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<8x6xbf16>},
                 %s: tensor<4xf32> {tg.param = #tg.param<"s", #tg.init<ones>, transposed>, comm.sharding = #comm.sharding<@mesh, {} {tp}, flat {dp}>, comm.global = tensor<4x6xf32>},
                 %a: tensor<4x6xbf16> {tg.state = #tg.state<"a", #tg.init<zeros>, kind = accumulator>, comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {dp, tp}>})
    -> (tensor<4x6xbf16> {tg.updates = "w", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<8x6xbf16>}, tensor<4xf32> {tg.updates = "s", comm.sharding = #comm.sharding<@mesh, {} {tp}, flat {dp}>, comm.global = tensor<4x6xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %t = comm.start {
    %sum = comm.all_reduce sum %a over @mesh {dp, tp} : (tensor<4x6xbf16>) -> tensor<4x6xbf16>
  } {comm.timing = {predicted_s = 31.2e-6, exposed_s = 0.0, waits_for = "a"}} : !comm.ticket<tensor<4x6xbf16>>
  %e = math.exp %s : tensor<4xf32>
  %sum = comm.wait %t : !comm.ticket<tensor<4x6xbf16>> -> tensor<4x6xbf16>
  return %sum, %e : tensor<4x6xbf16>, tensor<4xf32>
}

// What a rank does alone: its number is a scalar in memory, or the start of a copy
// whose loops are a table.
func.func @alone(%x: tensor<6x6xf32> {tg.input = "x"}, %y: tensor<2x4xbf16> {tg.input = "y"}, %z: tensor<5xf32> {tg.input = "z"})
    -> (tensor<6x2xf32> {tg.output = "columns", comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<6x6xf32>},
        tensor<2x4xbf16> {tg.output = "again"}, tensor<2xf32> {tg.output = "range", comm.sharding = #comm.sharding<@mesh, {}, flat {tp}>, comm.global = tensor<5xf32>},
        tensor<5xf32> {tg.output = "joined"})
    attributes {comm.program = #comm.program<@mesh>} {
  %number = comm.axis_index over @mesh {tp} : tensor<i32>
  %scale = tg.convert %number : tensor<i32> -> tensor<f32>
  %block = comm.slice %x dim 1 shift -1 over @mesh {tp} : tensor<6x6xf32> -> tensor<6x2xf32>
  %scales = tg.broadcast %scale dims [] : tensor<f32> -> tensor<6x2xf32>
  %columns = arith.mulf %block, %scales : tensor<6x2xf32>
  %y0 = comm.slice %y dim 0 shift 1 over @mesh {dp} : tensor<2x4xbf16> -> tensor<1x4xbf16>
  %y1 = comm.slice %y dim 0 over @mesh {dp} : tensor<2x4xbf16> -> tensor<1x4xbf16>
  %again = comm.assemble %y0, %y1 dim 0 shifts [1, 0] over @mesh {dp} : (tensor<1x4xbf16>, tensor<1x4xbf16>) -> tensor<2x4xbf16>
  %f0 = comm.slice %z dim flat over @mesh {tp} : tensor<5xf32> -> tensor<2xf32>
  %f1 = comm.slice %z dim flat shift 1 over @mesh {tp} : tensor<5xf32> -> tensor<2xf32>
  %f2 = comm.slice %z dim flat shift 2 over @mesh {tp} : tensor<5xf32> -> tensor<2xf32>
  %joined = comm.assemble %f0, %f1, %f2 dim flat shifts [0, 1, 2] over @mesh {tp} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<5xf32>
  return %columns, %again, %f0, %joined : tensor<6x2xf32>, tensor<2x4xbf16>, tensor<2xf32>, tensor<5xf32>
}

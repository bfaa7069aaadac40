// A program of ranks: the tables have the mesh, the groups, which part of a tensor
// a rank holds, and a descriptor for each collective; the step starts and waits for
// them by number.  Nothing depends on the rank.
// RUN: braid-opt %s --exec-form-kernels --exec-plan-memory --exec-outline-kernels --exec-batch-launches --exec-verify-memory -o %t.mlir
// RUN: braidc %t.mlir --emit=cpp | FileCheck %s

comm.mesh @mesh [dp = 2, tp = 3]

// STEP-LABEL: braid::step_
// CHECK-LABEL: br_status step_collectives(br_context *ctx) {
// CHECK:       // 0: all_reduce -> all_reduce [6 x 6] and 1 more, mean over {dp}, sends 192
// CHECK-NEXT:  // bytes;
// CHECK:       if (br_start(ctx, 0) != BR_OK || br_wait(ctx, 0) != BR_OK)
// CHECK-NEXT:    return BR_ERROR;
// CHECK:       // 1: all_gather -> inner [6 x 18], over {tp}
// CHECK:       // 7: barrier, over {tp, dp}, sends 0 bytes
func.func @collectives(%x: tensor<6x6xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp} {tp}>, comm.global = tensor<12x18xf32>},
                       %b: tensor<12xf32> {tg.input = "b"})
    -> (tensor<6x6xf32> {tg.role = "mean", comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<6x18xf32>},
        tensor<12xf32> {tg.role = "mean_b"},
        tensor<6x18xf32> {tg.role = "inner", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<12x18xf32>},
        tensor<6x2xf32> {tg.role = "scattered", comm.sharding = #comm.sharding<@mesh, {dp} {tp}>, comm.global = tensor<12x6xf32>},
        tensor<18x2xf32> {tg.role = "exchanged", comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>, comm.global = tensor<108x2xf32>},
        tensor<6x6xf32> {tg.role = "roots", comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<6x18xf32>},
        tensor<6x6xf32> {tg.role = "moved", comm.sharding = #comm.sharding<@mesh, {dp} {tp}>, comm.global = tensor<12x18xf32>},
        tensor<6xf32> {tg.role = "range", comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp, tp}>, comm.global = tensor<6x6xf32>})
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
                 %a: tensor<4x6xbf16> {tg.state = #tg.state<"a", #tg.init<zeros>, cause = "gradients", scratch>, comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {dp, tp}>})
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
    -> (tensor<6x2xf32> {tg.role = "columns", comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<6x6xf32>},
        tensor<2x4xbf16> {tg.role = "again"}, tensor<2xf32> {tg.role = "range", comm.sharding = #comm.sharding<@mesh, {}, flat {tp}>, comm.global = tensor<5xf32>},
        tensor<5xf32> {tg.role = "joined"})
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

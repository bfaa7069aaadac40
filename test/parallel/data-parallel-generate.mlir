// A program without a loss that updates nothing: its batch stays whole, and every
// rank has the result. Parameters are kept as in the programs that train.
//
// RUN: braid-opt %s --tg-derive-facts --comm-data-parallel="axes=dp zero=3" --comm-shard | FileCheck %s --implicit-check-not="= comm."
// RUN: braid-interp %s --compare --pipeline="tg-derive-facts,comm-data-parallel{axes=dp zero=3},comm-shard" | FileCheck %s --check-prefix=SAME
// SAME: results agree

// CHECK: func.func @generate(
// CHECK-SAME: tensor<3xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}
// CHECK-SAME: tensor<12xf32> {comm.global = tensor<6x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.param = #tg.param<"wte"
// CHECK: %[[WTE:[^ ]+]] = comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<12xf32>) -> tensor<6x4xf32>
// CHECK: tg.gather %[[WTE]]
comm.mesh @mesh [dp = 2]

func.func @generate(%tokens: tensor<3xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                    %wte: tensor<6x4xf32> {tg.param = #tg.param<"wte", #tg.init<normal, 0.0, 0.5>>})
    -> (tensor<3x6xf32> {tg.role = #tg.role<logits>}) {
  %x = tg.gather %wte, %tokens : (tensor<6x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  %y = tg.contract "sd,vd->sv" %x, %wte : (tensor<3x4xf32>, tensor<6x4xf32>) -> tensor<3x6xf32>
  return %y : tensor<3x6xf32>
}

// A two-layer MLP and AdamW under DDP and ZeRO: only what is kept differs; the
// collectives follow.
//
// RUN: braid-opt %s --tg-differentiate --tg-apply-optimizer=optimizer=adamw --comm-data-parallel="axes=dp zero=0" --comm-shard | FileCheck %s --check-prefix=DDP --implicit-check-not="= comm."
// RUN: braid-opt %s --tg-differentiate --tg-apply-optimizer=optimizer=adamw --comm-data-parallel="axes=dp zero=1" --comm-shard | FileCheck %s --check-prefix=ZERO1 --implicit-check-not="= comm."
// RUN: braid-opt %s --tg-differentiate --tg-apply-optimizer=optimizer=adamw --comm-data-parallel="axes=dp zero=2" --comm-shard | FileCheck %s --check-prefix=ZERO1 --implicit-check-not="= comm."
// RUN: braid-opt %s --tg-differentiate --tg-apply-optimizer=optimizer=adamw --comm-data-parallel="axes=dp zero=3" --comm-shard | FileCheck %s --check-prefix=ZERO3 --implicit-check-not="= comm."
//
// The same step as on one rank, gradients clipped by their global norm.
//
// RUN: braid-interp %s --compare --set step=1 --reference-pipeline="tg-differentiate,tg-apply-optimizer{clip=0.1}" --pipeline="tg-differentiate,tg-apply-optimizer{clip=0.1},comm-data-parallel{axes=dp zero=0},comm-shard"
// RUN: braid-interp %s --compare --set step=1 --reference-pipeline="tg-differentiate,tg-apply-optimizer{clip=0.1}" --pipeline="tg-differentiate,tg-apply-optimizer{clip=0.1},comm-data-parallel{axes=dp zero=1},comm-shard"
// RUN: braid-interp %s --compare --set step=1 --reference-pipeline="tg-differentiate,tg-apply-optimizer{clip=0.1}" --pipeline="tg-differentiate,tg-apply-optimizer{clip=0.1},comm-data-parallel{axes=dp zero=2},comm-shard"
// RUN: braid-interp %s --compare --set step=1 --reference-pipeline="tg-differentiate,tg-apply-optimizer{clip=0.1}" --pipeline="tg-differentiate,tg-apply-optimizer{clip=0.1},comm-data-parallel{axes=dp zero=3},comm-shard"

// Whole parameters and state; each gradient is summed over the ranks.
// DDP: @model(%{{.*}}: tensor<2x6xf32> {comm.global = tensor<8x6xf32>
// DDP: comm.all_reduce mean %{{[^ ]+}} over @mesh {dp} : (tensor<f32>) -> tensor<f32>
// DDP: comm.all_reduce sum %{{[^ ]+}} over @mesh {dp} : (tensor<5x3xf32>) -> tensor<5x3xf32>
// DDP: comm.all_reduce sum %{{[^ ]+}} over @mesh {dp} : (tensor<6x5xf32>) -> tensor<6x5xf32>
// DDP: tg.adam {{.*}} : (tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
// DDP: tg.adam {{.*}} : (tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>

// A rank updates a quarter of each parameter, padded: 30 elements are 4 x 8, 15 are
// 4 x 4. The new parameters are gathered.
// ZERO1: @model(
// ZERO1: comm.all_reduce mean %{{[^ ]+}} over @mesh {dp} : (tensor<f32>) -> tensor<f32>
// ZERO1: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<5x3xf32>) -> tensor<4xf32>
// ZERO1: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<6x5xf32>) -> tensor<8xf32>
// ZERO1: comm.slice %{{[^ ]+}} dim flat over @mesh {dp} : tensor<6x5xf32> -> tensor<8xf32>
// ZERO1: tg.adam {{.*}} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
// ZERO1: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<8xf32>) -> tensor<6x5xf32>
// ZERO1: comm.slice %{{[^ ]+}} dim flat over @mesh {dp} : tensor<5x3xf32> -> tensor<4xf32>
// ZERO1: tg.adam {{.*}} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
// ZERO1: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<5x3xf32>

// Parameters are kept in shards, and gathered before use.
// ZERO3: @model({{.*}} tensor<8xf32> {comm.global = tensor<6x5xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.param = #tg.param<"w1"
// ZERO3: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<8xf32>) -> tensor<6x5xf32>
// ZERO3: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<5x3xf32>
// ZERO3: comm.all_reduce mean %{{[^ ]+}} over @mesh {dp} : (tensor<f32>) -> tensor<f32>
// ZERO3: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<5x3xf32>) -> tensor<4xf32>
// ZERO3: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<6x5xf32>) -> tensor<8xf32>
// ZERO3: tg.adam {{.*}} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
// ZERO3: tg.adam {{.*}} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
comm.mesh @mesh [dp = 4]

func.func @model(%x: tensor<8x6xf32> {tg.input = "x", tg.role = "features"},
                 %t: tensor<8x3xf32> {tg.input = "t", tg.role = "labels"},
                 %w1: tensor<6x5xf32> {tg.param = #tg.param<"w1", #tg.init<normal, 0.0, 0.5>, unit = "1">},
                 %w2: tensor<5x3xf32> {tg.param = #tg.param<"w2", #tg.init<normal, 0.0, 0.5>, unit = "2">})
    -> (tensor<f32> {tg.role = "loss"}) {
  %h = tg.contract "bi,io->bo" %x, %w1 : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %a = tg.gelu tanh %h : tensor<8x5xf32>
  %y = tg.contract "bi,io->bo" %a, %w2 : (tensor<8x5xf32>, tensor<5x3xf32>) -> tensor<8x3xf32>
  %d = arith.subf %y, %t : tensor<8x3xf32>
  %q = arith.mulf %d, %d : tensor<8x3xf32>
  %loss = tg.reduce mean %q dims [0, 1] : tensor<8x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

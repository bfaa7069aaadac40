// A GPT block with its parameters in flat shards over dp, as under ZeRO-3: each is
// gathered before use, and its gradient is reduce-scattered into the same shard.
//
// RUN: braid-opt %s --comm-shard | FileCheck %s --implicit-check-not="= comm."
// RUN: braid-opt %s --tg-differentiate --comm-shard | FileCheck %s --check-prefix=GRAD --implicit-check-not="= comm."
// RUN: braid-interp %s --compare --pipeline="tg-differentiate,comm-shard" --reference-pipeline=tg-differentiate

// Forward.
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
// CHECK: tg.layer_norm{{.*}} -> {{\(?}}tensor<1x8x16xf32>
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<64xf32>) -> tensor<16x16xf32>
// CHECK: tg.contract "bsd,de->bse"{{.*}} -> {{\(?}}tensor<1x8x16xf32>
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<64xf32>) -> tensor<16x16xf32>
// CHECK: tg.contract "bsd,de->bse"{{.*}} -> {{\(?}}tensor<1x8x16xf32>
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<64xf32>) -> tensor<16x16xf32>
// CHECK: tg.contract "bsd,de->bse"{{.*}} -> {{\(?}}tensor<1x8x16xf32>
// CHECK: tg.attention{{.*}} -> {{\(?}}tensor<1x8x4x4xf32>
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<64xf32>) -> tensor<16x16xf32>
// CHECK: tg.contract "bse,ed->bsd"{{.*}} -> {{\(?}}tensor<1x8x16xf32>
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
// CHECK: tg.layer_norm{{.*}} -> {{\(?}}tensor<1x8x16xf32>
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<256xf32>) -> tensor<16x64xf32>
// CHECK: tg.contract "bsd,df->bsf"{{.*}} -> {{\(?}}tensor<1x8x64xf32>
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16xf32>) -> tensor<64xf32>
// CHECK: tg.gelu{{.*}} : tensor<1x8x64xf32>
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<256xf32>) -> tensor<64x16xf32>
// CHECK: tg.contract "bsf,fd->bsd"{{.*}} -> {{\(?}}tensor<1x8x16xf32>
// CHECK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
// CHECK: comm.all_reduce mean %{{[^ ]+}} over @mesh {dp} : (tensor<f32>) -> tensor<f32>

// With the backward pass.
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<64xf32>) -> tensor<16x16xf32>
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<64xf32>) -> tensor<16x16xf32>
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<64xf32>) -> tensor<16x16xf32>
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<64xf32>) -> tensor<16x16xf32>
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<256xf32>) -> tensor<16x64xf32>
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16xf32>) -> tensor<64xf32>
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<256xf32>) -> tensor<64x16xf32>
// GRAD: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
// GRAD: comm.all_reduce mean %{{[^ ]+}} over @mesh {dp} : (tensor<f32>) -> tensor<f32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16xf32>) -> tensor<4xf32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<64x16xf32>) -> tensor<256xf32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<64xf32>) -> tensor<16xf32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16x64xf32>) -> tensor<256xf32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16xf32>) -> tensor<4xf32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16xf32>) -> tensor<4xf32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16x16xf32>) -> tensor<64xf32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16x16xf32>) -> tensor<64xf32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16x16xf32>) -> tensor<64xf32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16x16xf32>) -> tensor<64xf32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16xf32>) -> tensor<4xf32>
// GRAD: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<16xf32>) -> tensor<4xf32>

comm.mesh @mesh [dp = 4]

#batch = #comm.sharding<@mesh, {dp} {} {}>
#vector = #comm.sharding<@mesh, {}, flat {dp}, priority 1>
#matrix = #comm.sharding<@mesh, {} {}, flat {dp}, priority 1>

func.func @block(%x: tensor<4x8x16xf32> {tg.input = "x", comm.sharding = #batch},
                 %g1: tensor<16xf32> {tg.param = #tg.param<"ln_1.weight", #tg.init<ones>>, comm.sharding = #vector},
                 %b1: tensor<16xf32> {tg.param = #tg.param<"ln_1.bias", #tg.init<zeros>>, comm.sharding = #vector},
                 %wq: tensor<16x16xf32> {tg.param = #tg.param<"q.weight", #tg.init<normal, 0.0, 0.02>>, comm.sharding = #matrix},
                 %wk: tensor<16x16xf32> {tg.param = #tg.param<"k.weight", #tg.init<normal, 0.0, 0.02>>, comm.sharding = #matrix},
                 %wv: tensor<16x16xf32> {tg.param = #tg.param<"v.weight", #tg.init<normal, 0.0, 0.02>>, comm.sharding = #matrix},
                 %wo: tensor<16x16xf32> {tg.param = #tg.param<"o.weight", #tg.init<normal, 0.0, 0.02>>, comm.sharding = #matrix},
                 %g2: tensor<16xf32> {tg.param = #tg.param<"ln_2.weight", #tg.init<ones>>, comm.sharding = #vector},
                 %b2: tensor<16xf32> {tg.param = #tg.param<"ln_2.bias", #tg.init<zeros>>, comm.sharding = #vector},
                 %w1: tensor<16x64xf32> {tg.param = #tg.param<"fc.weight", #tg.init<normal, 0.0, 0.02>>, comm.sharding = #matrix},
                 %c1: tensor<64xf32> {tg.param = #tg.param<"fc.bias", #tg.init<zeros>>, comm.sharding = #vector},
                 %w2: tensor<64x16xf32> {tg.param = #tg.param<"proj.weight", #tg.init<normal, 0.0, 0.02>>, comm.sharding = #matrix},
                 %c2: tensor<16xf32> {tg.param = #tg.param<"proj.bias", #tg.init<zeros>>, comm.sharding = #vector})
    -> (tensor<4x8x16xf32>, tensor<f32> {tg.role = #tg.role<loss>}) {
  // Attention.
  %h1, %mean1, %rstd1 = tg.layer_norm %x, %g1, %b1 eps 1.0e-5
      : (tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %q0 = tg.contract "bsd,de->bse" %h1, %wq : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %k0 = tg.contract "bsd,de->bse" %h1, %wk : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %v0 = tg.contract "bsd,de->bse" %h1, %wv : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %q = tg.reshape %q0 : tensor<4x8x16xf32> -> tensor<4x8x4x4xf32>
  %k = tg.reshape %k0 : tensor<4x8x16xf32> -> tensor<4x8x4x4xf32>
  %v = tg.reshape %v0 : tensor<4x8x16xf32> -> tensor<4x8x4x4xf32>
  %o, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<4x8x4x4xf32>, tensor<4x8x4x4xf32>, tensor<4x8x4x4xf32>) -> (tensor<4x8x4x4xf32>, tensor<4x4x8xf32>)
  %o1 = tg.reshape %o : tensor<4x8x4x4xf32> -> tensor<4x8x16xf32>
  %a = tg.contract "bse,ed->bsd" %o1, %wo : (tensor<4x8x16xf32>, tensor<16x16xf32>) -> tensor<4x8x16xf32>
  %x1 = arith.addf %x, %a : tensor<4x8x16xf32>
  // MLP.
  %h2, %mean2, %rstd2 = tg.layer_norm %x1, %g2, %b2 eps 1.0e-5
      : (tensor<4x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %f0 = tg.contract "bsd,df->bsf" %h2, %w1 : (tensor<4x8x16xf32>, tensor<16x64xf32>) -> tensor<4x8x64xf32>
  %c1b = tg.broadcast %c1 dims [2] : tensor<64xf32> -> tensor<4x8x64xf32>
  %f1 = arith.addf %f0, %c1b : tensor<4x8x64xf32>
  %f2 = tg.gelu tanh %f1 : tensor<4x8x64xf32>
  %p0 = tg.contract "bsf,fd->bsd" %f2, %w2 : (tensor<4x8x64xf32>, tensor<64x16xf32>) -> tensor<4x8x16xf32>
  %c2b = tg.broadcast %c2 dims [2] : tensor<16xf32> -> tensor<4x8x16xf32>
  %p1 = arith.addf %p0, %c2b : tensor<4x8x16xf32>
  %y = arith.addf %x1, %p1 : tensor<4x8x16xf32>
  // A loss, so that there is a backward pass.
  %squares = arith.mulf %y, %y : tensor<4x8x16xf32>
  %loss = tg.reduce mean %squares dims [0, 1, 2] : tensor<4x8x16xf32> -> tensor<f32>
  return %y, %loss : tensor<4x8x16xf32>, tensor<f32>
}

// An embedding, tied to the logits, with its vocabulary over tp: a rank looks up the
// rows it has and the results add up; the softmax of the cross entropy is reduced
// row by row, and no rank ever holds all logits.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/one-axis.mlir --comm-shard | FileCheck %t/one-axis.mlir --implicit-check-not="= comm.all"
// RUN: braid-interp %t/one-axis.mlir --compare --pipeline="tg-differentiate,comm-shard" --reference-pipeline=tg-differentiate
// RUN: braid-interp %t/two-axes.mlir --compare --pipeline="tg-differentiate,comm-shard" --reference-pipeline=tg-differentiate
// RUN: braid-interp %t/ignored.mlir --compare --ignored-share=0.5 --seeds=3 --pipeline="tg-differentiate,comm-shard" --reference-pipeline=tg-differentiate

//--- one-axis.mlir
// A rank looks up the tokens whose rows it has; the others give zeros.
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %{{.*}} : tensor<i32>
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi slt
// CHECK: tg.gather %{{.*}} : (tensor<8x8xf32>, tensor<2x6xi32>) -> tensor<2x6x8xf32>
// CHECK: comm.all_reduce sum %{{[^ ]+}} over @mesh {tp} : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
//
// Its part of the logits, of 8 classes.
// CHECK: tg.contract "bsd,vd->bsv"{{.*}} -> tensor<2x6x8xf32>
//
// The greatest logit, the sum of exponentials and the target's logit of each row.
// CHECK: comm.all_reduce max %{{[^ ]+}} over @mesh {tp} : (tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK: comm.all_reduce sum %{{[^ ]+}} over @mesh {tp} : (tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK: tg.iota dim 2 : tensor<2x6x8xi32>
// CHECK: tg.broadcast %[[FIRST]] dims [] : tensor<i32> -> tensor<2x6x8xi32>
// CHECK: comm.all_reduce sum %{{[^ ]+}} over @mesh {tp} : (tensor<2x6xf32>) -> tensor<2x6xf32>
comm.mesh @mesh [tp = 4]

func.func @model(%wte: tensor<32x8xf32> {tg.param = #tg.param<"wte", #tg.init<normal, 0.0, 1.0>>,
                                         comm.sharding = #comm.sharding<@mesh, {tp} {}>},
                 %tokens: tensor<2x6xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                 %targets: tensor<2x6xi32> {tg.input = "targets", tg.role = #tg.role<targets>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %x = tg.gather %wte, %tokens : (tensor<32x8xf32>, tensor<2x6xi32>) -> tensor<2x6x8xf32>
  %logits = tg.contract "bsd,vd->bsv" %x, %wte : (tensor<2x6x8xf32>, tensor<32x8xf32>) -> tensor<2x6x32xf32>
  %loss, %lse = tg.cross_entropy sum %logits, %targets ignore -100
      : (tensor<2x6x32xf32>, tensor<2x6xi32>) -> (tensor<f32>, tensor<2x6xf32>)
  return %loss : tensor<f32>
}

//--- two-axes.mlir
comm.mesh @mesh [dp = 2, tp = 2]

func.func @model(%wte: tensor<32x8xf32> {tg.param = #tg.param<"wte", #tg.init<normal, 0.0, 1.0>>,
                                         comm.sharding = #comm.sharding<@mesh, {tp} {}>},
                 %tokens: tensor<2x6xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>,
                                           comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                 %targets: tensor<2x6xi32> {tg.input = "targets", tg.role = #tg.role<targets>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %x = tg.gather %wte, %tokens : (tensor<32x8xf32>, tensor<2x6xi32>) -> tensor<2x6x8xf32>
  %logits = tg.contract "bsd,vd->bsv" %x, %wte : (tensor<2x6x8xf32>, tensor<32x8xf32>) -> tensor<2x6x32xf32>
  %loss, %lse = tg.cross_entropy mean %logits, %targets ignore -100
      : (tensor<2x6x32xf32>, tensor<2x6xi32>) -> (tensor<f32>, tensor<2x6xf32>)
  return %loss : tensor<f32>
}

//--- ignored.mlir
comm.mesh @mesh [dp = 4]

// The ranks have unequal numbers of targets that count: the mean divides by all.
func.func @model(%w: tensor<8x16xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 1.0>>},
                 %x: tensor<8x8xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                 %targets: tensor<8xi32> {tg.input = "targets", tg.role = #tg.role<targets>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %logits = tg.contract "bd,dv->bv" %x, %w : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %loss, %lse = tg.cross_entropy mean %logits, %targets ignore -100
      : (tensor<8x16xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

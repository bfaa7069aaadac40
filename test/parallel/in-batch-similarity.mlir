// A contrastive loss compares each example of the batch with all others: "io,jo->ij" would
// need {dp} for both i and j.  The examples of one input stay where they are, those of the
// other are gathered, and the gradient of these is reduced and scattered.
//
// RUN: braidc %s --mesh=dp=2 --emit=comm -o - | FileCheck %s
// CHECK: func.func @train({{.*}}: tensor<4x6xf32> {comm.global = tensor<8x6xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>, tg.input = "images"
// CHECK: %[[IMAGE:.*]] = tg.contract "bi,oi->bo" {{.*}} -> tensor<4x4xf32>
// CHECK: %[[TEXT:.*]] = tg.contract "bi,oi->bo" {{.*}} -> tensor<4x4xf32>
// CHECK: %[[TEXTS:.*]] = comm.all_gather %[[TEXT]] dims [0] over @mesh {dp} : (tensor<4x4xf32>) -> tensor<8x4xf32>
// CHECK: tg.contract "io,jo->ij" %[[IMAGE]], %[[TEXTS]] : (tensor<4x4xf32>, tensor<8x4xf32>) -> tensor<4x8xf32>
// CHECK: comm.reduce_scatter sum {{.*}} dims [0] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<4x4xf32>
//
// RUN: braid-opt %s --pass-pipeline="builtin.module(tg-make-programs,tg-differentiate{function=train},func.func(tg-apply-optimizer,canonicalize,cse))" -o %t.train.mlir --mlir-print-debuginfo
// RUN: braid-interp %t.train.mlir --compare --pipeline="comm-annotate{layout={mesh dp = 2}},comm-data-parallel{axes=dp},comm-shard" | FileCheck %s --check-prefix=SAME
// RUN: braid-interp %t.train.mlir --compare --pipeline="comm-annotate{layout={mesh dp = 4}},comm-data-parallel{axes=dp zero=3},comm-shard,canonicalize,cse,comm-gather-units" | FileCheck %s --check-prefix=SAME
// SAME: results agree
//
// Microbatches would be compared with themselves alone, which is another loss.
// RUN: not braidc %s --mesh=dp=2 --accumulate=2 --emit=comm -o - 2>&1 | FileCheck %s --check-prefix=MICRO
// MICRO: error: 'tg.cross_entropy' mixes the examples of the batch of 8
//
// RUN: python3 %S/Inputs/pairs.py %t.safetensors
// RUN: braidc %s -o %t.one && %t.one train --data %t.safetensors --steps 3 --lr 0.01 --force --log %t.one.jsonl
// RUN: braidc %s -o %t.two --mesh=dp=2 --zero=1 && %t.two train --data %t.safetensors --steps 3 --lr 0.01 --force --log %t.two.jsonl
// RUN: python3 %S/../driver/Inputs/same_losses.py %t.one.jsonl %t.two.jsonl
func.func @model(%w: tensor<6x4xf32> {tg.param = #tg.param<"image.weight", #tg.init<normal, 0.0, 0.5>>},
                 %v: tensor<6x4xf32> {tg.param = #tg.param<"text.weight", #tg.init<normal, 0.0, 0.5>>},
                 %images: tensor<8x6xf32> {tg.input = "images", tg.role = #tg.role<features>},
                 %texts: tensor<8x6xf32> {tg.input = "texts", tg.role = #tg.role<labels>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %image = tg.contract "bi,io->bo" %images, %w : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %text = tg.contract "bi,io->bo" %texts, %v : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %logits = tg.contract "io,jo->ij" %image, %text : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  %pair = tg.iota dim 0 : tensor<8xi32>
  %by_image, %0 = tg.cross_entropy mean %logits, %pair ignore -100 : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  %swapped = tg.transpose %logits [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %by_text, %1 = tg.cross_entropy mean %swapped, %pair ignore -100 : (tensor<8x8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  %loss = arith.addf %by_image, %by_text : tensor<f32>
  return %loss : tensor<f32>
}

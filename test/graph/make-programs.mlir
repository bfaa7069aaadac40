// The forward graphs of train, eval, generate and predict.
//
// RUN: braid-opt %s --tg-make-programs --split-input-file | FileCheck %s

// Only training drops out; only it and eval read targets; generate picks the
// hidden row before the head.
// CHECK-NOT: @model
// CHECK-LABEL: func.func @train
// CHECK-SAME: "tokens"{{.*}}"targets"{{.*}}"key"{{.*}}#tg.param<"e"
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>})
// CHECK: tg.dropout
// CHECK-LABEL: func.func @eval
// CHECK-SAME: tensor<4x6xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}, %{{[^,]*}}: tensor<4x6xi32> {tg.input = "targets", tg.role = #tg.role<targets>}, %{{[^,]*}}: tensor<16x8xf32> {tg.param
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>})
// CHECK-NOT: tg.dropout
// CHECK-LABEL: func.func @generate
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<1x6xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}, %[[E:[a-z0-9]+]]: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>}, %[[P:[a-z0-9]+]]: tensor<i32> {tg.input = "position", tg.role = #tg.role<position>}
// CHECK-SAME: -> (tensor<16xf32> {tg.role = #tg.role<logits>})
// CHECK-NEXT: %[[H:.*]] = tg.gather %[[E]], %[[T]] : (tensor<16x8xf32>, tensor<1x6xi32>) -> tensor<1x6x8xf32>
// CHECK-NEXT: %[[ROWS:.*]] = tg.reshape %[[H]] : tensor<1x6x8xf32> -> tensor<6x8xf32>
// CHECK-NEXT: %[[I:.*]] = tg.reshape %[[P]] : tensor<i32> -> tensor<1xi32>
// CHECK-NEXT: %[[ROW:.*]] = tg.gather %[[ROWS]], %[[I]] : (tensor<6x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
// CHECK-NEXT: %[[X:.*]] = tg.reshape %[[ROW]] : tensor<1x8xf32> -> tensor<1x1x8xf32>
// CHECK-NEXT: %[[L:.*]] = tg.contract "bsd,vd->bsv" %[[X]], %[[E]] : (tensor<1x1x8xf32>, tensor<16x8xf32>) -> tensor<1x1x16xf32>
// CHECK-NEXT: %[[Y:.*]] = tg.reshape %[[L]] : tensor<1x1x16xf32> -> tensor<16xf32>
// CHECK-NEXT: return %[[Y]]
func.func @model(%t: tensor<4x6xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}, %y: tensor<4x6xi32> {tg.input = "targets", tg.role = #tg.role<targets>},
                 %key: tensor<4xi32> {tg.input = "key", tg.role = #tg.role<key>}, %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x6x16xf32> {tg.role = #tg.role<logits>}) {
  %0 = tg.gather %e, %t : (tensor<16x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  %1 = tg.dropout %0, %key rate 0.1 stream 0 : (tensor<4x6x8xf32>, tensor<4xi32>) -> tensor<4x6x8xf32>
  %2 = tg.contract "bsd,vd->bsv" %1, %e : (tensor<4x6x8xf32>, tensor<16x8xf32>) -> tensor<4x6x16xf32>
  %3:2 = tg.cross_entropy mean %2, %y ignore -100 : (tensor<4x6x16xf32>, tensor<4x6xi32>) -> (tensor<f32>, tensor<4x6xf32>)
  return %3#0, %2 : tensor<f32>, tensor<4x6x16xf32>
}

// -----

// Flattened logits are the same rows.
// CHECK-LABEL: func.func @generate
// CHECK: tg.gather %{{.*}} : (tensor<6x8xf32>, tensor<1xi32>) -> tensor<1x8xf32>
// CHECK: tg.contract "bd,vd->bv" %{{.*}} : (tensor<1x8xf32>, tensor<16x8xf32>) -> tensor<1x16xf32>
// CHECK: tg.reshape %{{.*}} : tensor<1x16xf32> -> tensor<16xf32>
func.func @model(%t: tensor<4x6xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}, %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>})
    -> (tensor<4x6x16xf32> {tg.role = #tg.role<logits>}) {
  %0 = tg.gather %e, %t : (tensor<16x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  %1 = tg.reshape %0 : tensor<4x6x8xf32> -> tensor<24x8xf32>
  %2 = tg.contract "bd,vd->bv" %1, %e : (tensor<24x8xf32>, tensor<16x8xf32>) -> tensor<24x16xf32>
  %3 = tg.reshape %2 : tensor<24x16xf32> -> tensor<4x6x16xf32>
  return %3 : tensor<4x6x16xf32>
}

// -----

// Logits that are no contraction are picked from.
// CHECK-LABEL: func.func @generate
// CHECK: tg.contract {{.*}} -> tensor<1x6x16xf32>
// CHECK: %[[L:.*]] = arith.addf {{.*}} : tensor<1x6x16xf32>
// CHECK: %[[R:.*]] = tg.reshape %[[L]] : tensor<1x6x16xf32> -> tensor<6x16xf32>
// CHECK: tg.gather %[[R]], %{{.*}} : (tensor<6x16xf32>, tensor<1xi32>) -> tensor<1x16xf32>
func.func @model(%t: tensor<4x6xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}, %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                 %b: tensor<16xf32> {tg.param = #tg.param<"b", #tg.init<ones>>})
    -> (tensor<4x6x16xf32> {tg.role = #tg.role<logits>}) {
  %0 = tg.gather %e, %t : (tensor<16x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  %1 = tg.contract "bsd,vd->bsv" %0, %e : (tensor<4x6x8xf32>, tensor<16x8xf32>) -> tensor<4x6x16xf32>
  %2 = tg.broadcast %b dims [2] : tensor<16xf32> -> tensor<4x6x16xf32>
  %3 = arith.addf %1, %2 : tensor<4x6x16xf32>
  return %3 : tensor<4x6x16xf32>
}

// -----

// Without tokens there is nothing to generate.
// CHECK-LABEL: func.func @train
// CHECK-LABEL: func.func @eval
// CHECK-NOT: @generate
func.func @model(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x8xf32> {tg.role = #tg.role<logits>}) {
  %0 = tg.reduce mean %x dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %0, %x : tensor<f32>, tensor<4x8xf32>
}

// -----

// Training moves on the model's state, the others read it.
// CHECK-LABEL: func.func @train
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<i32> {tg.updates = "batches"})
// CHECK: arith.addi
// CHECK-LABEL: func.func @eval
// CHECK-SAME: tg.state = #tg.state<"batches"
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>})
// CHECK-NOT: arith.addi
func.func @model(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}, %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %batches: tensor<i32> {tg.state = #tg.state<"batches", #tg.init<zeros>, kind = running_statistic>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<i32> {tg.updates = "batches"}) {
  %0 = arith.mulf %x, %w : tensor<4xf32>
  %1 = tg.convert %batches : tensor<i32> -> tensor<f32>
  %2 = tg.broadcast %1 dims [] : tensor<f32> -> tensor<4xf32>
  %3 = arith.subf %0, %2 : tensor<4xf32>
  %4 = tg.reduce mean %3 dims [0] : tensor<4xf32> -> tensor<f32>
  %5 = arith.constant dense<1> : tensor<i32>
  %6 = arith.addi %batches, %5 : tensor<i32>
  return %4, %6 : tensor<f32>, tensor<i32>
}

// -----

// A step and an evaluation report what the model counts; tensors are predictions.
// CHECK-LABEL: func.func @train
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.output = "dropped"}) {
// CHECK-LABEL: func.func @eval
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.output = "dropped"}) {
// CHECK-LABEL: func.func @predict
// CHECK-SAME: -> (tensor<4xf32> {tg.output = "prediction"}) {
func.func @model(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.output = "dropped"}, tensor<4xf32> {tg.output = "prediction"}) {
  %loss = tg.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32>
  %dropped = tg.reduce max %x dims [0] : tensor<4xf32> -> tensor<f32>
  return %loss, %dropped, %x : tensor<f32>, tensor<f32>, tensor<4xf32>
}

// -----

// A norm has the statistics of the batch in training, and running ones in inference.
// CHECK-LABEL: func.func @train
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "mean"})
// CHECK: %[[MEAN:.*]] = tg.reduce mean
// CHECK: %[[ROWS:.*]] = tg.broadcast %[[MEAN]]
// CHECK: arith.subf %{{.*}}, %[[ROWS]]
// CHECK: return %{{.*}}, %[[MEAN]]
// CHECK-LABEL: func.func @eval
// CHECK-SAME: %[[RUNNING:[a-z0-9]+]]: tensor<4xf32> {tg.state
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>})
// CHECK-NOT: tg.reduce mean
// CHECK: %[[ROWS:.*]] = tg.broadcast %[[RUNNING]]
// CHECK: arith.subf %{{.*}}, %[[ROWS]]
func.func @model(%x: tensor<8x4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %m: tensor<4xf32> {tg.state = #tg.state<"mean", #tg.init<zeros>, kind = running_statistic>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.updates = "mean"}) {
  %0 = tg.reduce mean %x dims [0] : tensor<8x4xf32> -> tensor<4xf32>
  %1 = tg.in_training %0, %m : tensor<4xf32>
  %2 = tg.broadcast %1 dims [1] : tensor<4xf32> -> tensor<8x4xf32>
  %3 = arith.subf %x, %2 : tensor<8x4xf32>
  %l = tg.reduce sum %3 dims [0, 1] : tensor<8x4xf32> -> tensor<f32>
  return %l, %1 : tensor<f32>, tensor<4xf32>
}

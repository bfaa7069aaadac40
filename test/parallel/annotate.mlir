// Shardings are written by the names of arguments.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/model.mlir --comm-annotate="layout-file=%t/layout" | FileCheck %t/model.mlir
// RUN: braid-opt %t/model.mlir --comm-annotate="layout='mesh tp = 2; h*: flat {tp}' functions=f" | FileCheck %t/model.mlir --check-prefix=ANY

//--- layout
# Comments and empty lines say nothing.
mesh dp = 2, tp = 2

x:           {dp} {}
h.0.weight:  {} {tp}            # the first that fits is taken
h.*.weight:  {tp} {}, priority 1
*.bias:      flat {dp}, priority 1
held:        {} {tp}

//--- model.mlir
// CHECK: comm.mesh @mesh [dp = 2, tp = 2]
// CHECK: @f(%{{.*}}: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, tg.input = "x"}
// CHECK-SAME: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, tg.param = #tg.param<"h.0.weight"
// CHECK-SAME: tensor<6x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}, priority 1>, tg.param = #tg.param<"h.1.weight"
// CHECK-SAME: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {dp}, priority 1>, tg.state = #tg.state<"h.1.bias"
// CHECK-SAME: tensor<f32> {tg.input = "lr"}
// CHECK-SAME: tensor<f32>,
// The graph shows it as 3x6.
// CHECK-SAME: tensor<6x3xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>

// ANY: comm.mesh @mesh [tp = 2]
// ANY: tensor<6x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>
// ANY-SAME: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {tp}>
func.func @f(%x: tensor<4x8xf32> {tg.input = "x"},
             %w0: tensor<8x6xf32> {tg.param = #tg.param<"h.0.weight", #tg.init<ones>>},
             %w1: tensor<6x8xf32> {tg.param = #tg.param<"h.1.weight", #tg.init<ones>>},
             %b: tensor<8xf32> {tg.state = #tg.state<"h.1.bias", #tg.init<ones>, kind = running_statistic>},
             %lr: tensor<f32> {tg.input = "lr"}, %unnamed: tensor<f32>,
             %held: tensor<6x3xf32> {tg.param = #tg.param<"held", #tg.init<ones>, transposed>}) -> tensor<4x6xf32> {
  %y = tg.contract "bd,df->bf" %x, %w0 : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// ANY: func.func @g(%{{.*}}: tensor<4x8xf32> {tg.input = "x"})
func.func @g(%x: tensor<4x8xf32> {tg.input = "x"}) -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}

// Every change of sharding is an op, and every op says what it yields.
//
// RUN: braid-opt %s --comm-propagate --comm-insert-reshards --comm-verify-shardings | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-shard

comm.mesh @mesh [dp = 2, tp = 2]

// CHECK-LABEL: func.func @by_column
func.func @by_column(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>},
                     %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) -> tensor<4x6xf32> {
  // CHECK-NEXT: %[[Y:.*]] = tg.contract "bd,df->bf" %arg0, %arg1 {comm.shardings = [#comm.sharding<@mesh, {} {tp}>]}
  // CHECK-NEXT: return %[[Y]]
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @by_row
func.func @by_row(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                  %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>}) -> tensor<4x6xf32> {
  // CHECK-NEXT: %[[Y:.*]] = tg.contract "bd,df->bf" %arg0, %arg1 {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {tp}>]}
  // CHECK-NEXT: %[[S:.*]] = comm.reshard %[[Y]] <@mesh, {} {}>
  // CHECK-NEXT: return %[[S]]
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// Column, then row, and the batch over the other axis: one reduction at the end.
// CHECK-LABEL: func.func @both
func.func @both(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                %v: tensor<6x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>}) -> tensor<4x8xf32> {
  // CHECK-NEXT: tg.contract {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp} {tp}>]}
  // CHECK-NEXT: tg.gelu {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp} {tp}>]}
  // CHECK-NEXT: %[[Z:.*]] = tg.contract {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp} {}, partial sum {tp}>]}
  // CHECK-NEXT: comm.reshard %[[Z]] <@mesh, {dp} {}>
  // CHECK-NEXT: return
  %h = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %g = tg.gelu tanh %h : tensor<4x6xf32>
  %z = tg.contract "bf,fd->bd" %g, %v : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// A parameter in flat shards is gathered once for both uses; its gradient becomes
// such a shard.
// CHECK-LABEL: func.func @flat_parameter
func.func @flat_parameter(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                          %w: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}, priority 1>})
    -> (tensor<4x8xf32>, tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}, priority 1>}) {
  // CHECK-NEXT: %[[W:.*]] = comm.reshard %arg1 <@mesh, {} {}>
  // CHECK-NEXT: %[[Y:.*]] = tg.contract "bd,df->bf" %arg0, %[[W]]
  // CHECK-NEXT: %[[Z:.*]] = tg.contract "bd,df->bf" %[[Y]], %[[W]]
  // CHECK-NEXT: %[[P:.*]] = tg.contract "bd,bf->df" %[[Y]], %[[Z]] {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {dp}>]}
  // CHECK-NEXT: %[[G:.*]] = comm.reshard %[[P]] <@mesh, {} {}, flat {dp}>
  // CHECK-NEXT: return %[[Z]], %[[G]]
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %z = tg.contract "bd,df->bf" %y, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %g = tg.contract "bd,bf->df" %y, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return %z, %g : tensor<4x8xf32>, tensor<8x8xf32>
}

// Where priorities decide, the other value is resharded at its use.
// CHECK-LABEL: func.func @conflicting
func.func @conflicting(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}, priority 1>},
                     %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) -> tensor<4x6xf32> {
  // CHECK-NEXT: %[[X:.*]] = comm.reshard %arg0 <@mesh, {} {}>
  // CHECK-NEXT: tg.contract "bd,df->bf" %[[X]], %arg1 {comm.shardings = [#comm.sharding<@mesh, {} {tp}>]}
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// A constraint becomes a reshard, or nothing.
// CHECK-LABEL: func.func @constrain
func.func @constrain(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[R:.*]] = comm.reshard %arg0 <@mesh, {} {dp}>
  // CHECK-NEXT: %[[E:.*]] = math.exp %[[R]]
  // CHECK-NEXT: return %[[E]]
  %0 = comm.constrain %x <@mesh, {dp} {}> : tensor<4x8xf32>
  %1 = comm.constrain %0 <@mesh, {} {dp}> : tensor<4x8xf32>
  %2 = math.exp %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// A constant is made again for users that need it otherwise.
// CHECK-LABEL: func.func @constant
func.func @constant(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                    %y: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp}>})
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-DAG: %[[A:.*]] = arith.constant {comm.shardings = [#comm.sharding<@mesh, {dp} {}>]}
  // CHECK-DAG: %[[B:.*]] = arith.constant {comm.shardings = [#comm.sharding<@mesh, {} {dp}>]}
  // CHECK: arith.mulf %arg0, %[[A]]
  // CHECK: arith.mulf %arg1, %[[B]]
  %c = arith.constant dense<2.0> : tensor<8x8xf32>
  %0 = arith.mulf %x, %c : tensor<8x8xf32>
  %1 = arith.mulf %y, %c : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// The gradient is moved to the parameter, not the parameter and its state to it.
// CHECK-LABEL: func.func @update
func.func @update(%w: tensor<4x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>,
                                       comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>},
                  %m: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>},
                  %g: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>})
    -> (tensor<4x8xf32> {tg.updates = "w"}) {
  // CHECK-NEXT: %[[R:.*]] = comm.reshard %arg2 <@mesh, {} {}, flat {dp}>
  // CHECK-NEXT: math.fma %[[R]], %arg1, %arg0 {comm.shardings = [#comm.sharding<@mesh, {} {}, flat {dp}>]}
  // CHECK-NEXT: return
  %0 = math.fma %g, %m, %w : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A value with one reader goes straight to what that needs.
// CHECK-LABEL: func.func @straight
func.func @straight(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {tp}>},
                    %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>}) -> tensor<4x6xf32> {
  // CHECK: %[[Y:.*]] = tg.contract {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp} {}, partial sum {tp}>]}
  // CHECK-NEXT: %[[R:.*]] = comm.reshard %[[Y]] <@mesh, {} {dp}>
  // CHECK-NEXT: math.exp %[[R]]
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %c = comm.constrain %y <@mesh, {} {dp}> : tensor<4x6xf32>
  %e = math.exp %c : tensor<4x6xf32>
  return %e : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @not_annotated
// CHECK-NOT: comm.
func.func @not_annotated(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Axes spread forward and backward along the factors of ops.
//
// RUN: braid-opt %s --comm-propagate | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-shard

comm.mesh @mesh [dp = 2, tp = 4, one = 1]

// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> (tensor<8x16xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {tp}>})
func.func @forward(%x: tensor<8x32xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                   %w: tensor<32x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) -> tensor<8x16xf32> {
  // CHECK: tg.contract {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp} {tp}>]}
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  // CHECK: tg.gelu {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp} {tp}>]}
  %g = tg.gelu tanh %y : tensor<8x16xf32>
  return %g : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @backward
// CHECK-SAME: (%{{[^:]*}}: tensor<8x32xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
// CHECK-SAME: %{{[^:]*}}: tensor<32x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>})
func.func @backward(%x: tensor<8x32xf32>, %w: tensor<32x16xf32>)
    -> (tensor<16x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {dp}>}) {
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  // CHECK: tg.transpose {{.*}} {comm.shardings = [#comm.sharding<@mesh, {tp} {dp}>]}
  %t = tg.transpose %y [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  return %t : tensor<16x8xf32>
}

// An annotation is exact; an open dim takes more axes behind its own.
// CHECK-LABEL: func.func @open
// CHECK-SAME: %{{[^:]*}}: tensor<8x16xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>}
// CHECK-SAME: %{{[^:]*}}: tensor<8x16xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>}
// CHECK-SAME: %{{[^:]*}}: tensor<8x16xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}
func.func @open(%a: tensor<8x16xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>},
                %b: tensor<8x16xf32> {comm.sharding = #comm.sharding<@mesh, {dp, ?} {}>},
                %c: tensor<8x16xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) -> tensor<8x16xf32> {
  %0 = arith.addf %a, %b : tensor<8x16xf32>
  // CHECK: arith.mulf {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp, tp} {}>]}
  %1 = arith.mulf %0, %c : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// The smaller priority wins; the op says how it is sharded.
// CHECK-LABEL: func.func @priorities
func.func @priorities(%x: tensor<8x32xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                      %w: tensor<32x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp}, priority 1>})
    -> tensor<8x16xf32> {
  // CHECK: tg.contract
  // CHECK-SAME: comm.factors = #comm.sharding<@mesh, {dp} {} {}>
  // CHECK-SAME: comm.shardings = [#comm.sharding<@mesh, {dp} {}>]
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// One annotation that wants an axis twice in an op: the first factor has it.
// CHECK-LABEL: func.func @axis_on_two_dims
func.func @axis_on_two_dims(%x: tensor<8x32xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) -> tensor<8x8xf32> {
  // CHECK: tg.contract
  // CHECK-SAME: comm.factors = #comm.sharding<@mesh, {dp} {} {}>
  // CHECK-SAME: comm.shardings = [#comm.sharding<@mesh, {dp} {}>]
  %y = tg.contract "ad,bd->ab" %x, %x : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// tp does not divide the 6 heads that 24 is split into, dp does.
// CHECK-LABEL: func.func @sizes
func.func @sizes(%x: tensor<3x24xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp, tp}>}) -> tensor<3x6x4xf32> {
  // CHECK: tg.reshape {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {dp} {}>]}
  %y = tg.reshape %x : tensor<3x24xf32> -> tensor<3x6x4xf32>
  return %y : tensor<3x6x4xf32>
}

// A factor behind another in a dim can be sharded once that is sharded to elements.
// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<2x4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {tp} {}>},
                   %z: tensor<8x4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {tp} {}>})
    -> (tensor<8x8xf32>, tensor<32x8xf32>) {
  // CHECK: tg.reshape {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp, tp} {}>]} : tensor<2x4x8xf32>
  %y = tg.reshape %x : tensor<2x4x8xf32> -> tensor<8x8xf32>
  // CHECK: tg.reshape {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp} {}>]} : tensor<8x4x8xf32>
  %u = tg.reshape %z : tensor<8x4x8xf32> -> tensor<32x8xf32>
  return %y, %u : tensor<8x8xf32>, tensor<32x8xf32>
}

// A constrained value may differ from what it is made of.  What is asked of the
// operand yields to %x.
// CHECK-LABEL: func.func @constrain
func.func @constrain(%x: tensor<8x32xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) -> tensor<8x32xf32> {
  // CHECK: math.exp {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp} {tp}>]}
  %0 = math.exp %x : tensor<8x32xf32>
  // CHECK: comm.constrain %{{.*}} <@mesh, {} {tp, dp}>
  %1 = comm.constrain %0 <@mesh, {} {tp, dp}> : tensor<8x32xf32>
  // CHECK: math.exp {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {tp, dp}>]}
  %2 = math.exp %1 : tensor<8x32xf32>
  return %2 : tensor<8x32xf32>
}

// The new value of an argument is held as the argument is.
// CHECK-LABEL: func.func @updates
// CHECK-SAME: -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, tg.updates = "w"},
// CHECK-SAME: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>, tg.updates = "m"})
func.func @updates(%w: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>, comm.sharding = #comm.sharding<@mesh, {tp}>},
                   %m: tensor<8xf32> {tg.state = #tg.state<"m", #tg.init<zeros>, of = "w", kind = moment>},
                   %g: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {dp}, priority 1>})
    -> (tensor<8xf32> {tg.updates = "w"}, tensor<8xf32> {tg.updates = "m"}) {
  %0 = comm.constrain %g <@mesh, {tp}> : tensor<8xf32>
  %1 = math.exp %0 : tensor<8xf32>
  %2 = math.exp %g : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}

// Axes of size 1 shard nothing.
// CHECK-LABEL: func.func @unit_axis
// CHECK-SAME: %{{[^:]*}}: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>}
func.func @unit_axis(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {one, dp}>}) -> tensor<8xf32> {
  %0 = math.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A constant follows its users and carries nothing from one to the other.
// CHECK-LABEL: func.func @constant
func.func @constant(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                    %y: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp}>})
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK: arith.constant {comm.shardings = [#comm.sharding<@mesh, {dp} {}>]}
  %c = arith.constant dense<2.0> : tensor<8x8xf32>
  // CHECK: arith.mulf {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp} {}>]}
  %0 = arith.mulf %x, %c : tensor<8x8xf32>
  // CHECK: arith.mulf {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {dp}>]}
  %1 = arith.mulf %y, %c : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @not_annotated
// CHECK-NOT: comm.sharding
func.func @not_annotated(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A local function has its shardings already.
// CHECK-LABEL: func.func @local
// CHECK-NOT: comm.shardings
func.func @local(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

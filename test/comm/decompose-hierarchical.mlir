// Over two axes or more: one axis after the other, a part of the tensor over the outer.
// RUN: braid-opt --comm-decompose=algorithm=hierarchical %s | FileCheck %s
// RUN: braid-interp %s --compare --pipeline="comm-decompose{algorithm=hierarchical}"
// RUN: braid-interp %s --compare --pipeline="comm-decompose{algorithm=hierarchical},comm-decompose{algorithm=direct},comm-decompose{algorithm=tree},comm-simplify" 2>&1 | FileCheck %s --check-prefix=AGREE
// AGREE-COUNT-10: agree
// RUN: braid-interp %s --compare --pipeline="comm-decompose{algorithm=hierarchical},comm-simplify"

comm.mesh @six [dp = 2, tp = 3]
comm.mesh @eight [pp = 2, dp = 2, tp = 2]

// CHECK-LABEL: func @all_reduce
// CHECK-NEXT: %[[S:.*]] = comm.reduce_scatter sum %arg0 dims [0] over @six {tp} : (tensor<6x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: %[[R:.*]] = comm.all_reduce sum %[[S]] over @six {dp} : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: comm.all_gather %[[R]] dims [0] over @six {tp} : (tensor<2x2xf32>) -> tensor<6x2xf32>
func.func @all_reduce(%x: tensor<6x2xf32> {comm.sharding = #comm.sharding<@six, {} {}, partial sum {dp, tp}>}) -> (tensor<6x2xf32> {comm.sharding = #comm.sharding<@six, {} {}>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.all_reduce sum %x over @six {dp, tp} : (tensor<6x2xf32>) -> tensor<6x2xf32>
  return %y : tensor<6x2xf32>
}

// CHECK-LABEL: func @all_reduce_flat
// CHECK-NEXT: %[[S:.*]] = comm.reduce_scatter mean %arg0 dims [flat] over @six {tp} : (tensor<7xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[R:.*]] = comm.all_reduce mean %[[S]] over @six {dp} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: comm.all_gather %[[R]] dims [flat] over @six {tp} : (tensor<3xf32>) -> tensor<7xf32>
func.func @all_reduce_flat(%x: tensor<7xf32> {comm.sharding = #comm.sharding<@six, {}, partial mean {dp, tp}>}) -> (tensor<7xf32> {comm.sharding = #comm.sharding<@six, {}>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.all_reduce mean %x over @six {dp, tp} : (tensor<7xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// CHECK-LABEL: func @three_axes
// CHECK-NEXT: %[[A:.*]] = comm.reduce_scatter max %arg0 dims [0] over @eight {tp} : (tensor<8xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = comm.reduce_scatter max %[[A]] dims [0] over @eight {dp} : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[C:.*]] = comm.all_reduce max %[[B]] over @eight {pp} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[D:.*]] = comm.all_gather %[[C]] dims [0] over @eight {dp} : (tensor<2xf32>) -> tensor<4xf32>
// CHECK-NEXT: comm.all_gather %[[D]] dims [0] over @eight {tp} : (tensor<4xf32>) -> tensor<8xf32>
func.func @three_axes(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@eight, {}, partial max {pp, dp, tp}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@eight, {}>})
    attributes {comm.program = #comm.program<@eight>} {
  %y = comm.all_reduce max %x over @eight {pp, dp, tp} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// The outer axis first: the own block alone goes over it.
// CHECK-LABEL: func @all_gather
// CHECK-NEXT: %[[R:.*]] = tg.reshape %arg0 : tensor<2x4xf32> -> tensor<2x1x4xf32>
// CHECK-NEXT: %[[A:.*]] = comm.all_gather %[[R]] dims [1] over @six {dp} : (tensor<2x1x4xf32>) -> tensor<2x2x4xf32>
// CHECK-NEXT: %[[B:.*]] = comm.all_gather %[[A]] dims [2] over @six {tp} : (tensor<2x2x4xf32>) -> tensor<2x2x12xf32>
// CHECK-NEXT: tg.reshape %[[B]] : tensor<2x2x12xf32> -> tensor<2x24xf32>
func.func @all_gather(%x: tensor<2x4xf32> {comm.sharding = #comm.sharding<@six, {} {dp, tp}>, comm.global = tensor<2x24xf32>}) -> (tensor<2x24xf32> {comm.sharding = #comm.sharding<@six, {} {}>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.all_gather %x dims [1] over @six {dp, tp} : (tensor<2x4xf32>) -> tensor<2x24xf32>
  return %y : tensor<2x24xf32>
}

// CHECK-LABEL: func @all_gather_of_three
// CHECK-COUNT-3: comm.all_gather
func.func @all_gather_of_three(%x: tensor<2x4xf32> {comm.sharding = #comm.sharding<@eight, {tp, pp, dp} {}>, comm.global = tensor<16x4xf32>}) -> (tensor<16x4xf32> {comm.sharding = #comm.sharding<@eight, {} {}>})
    attributes {comm.program = #comm.program<@eight>} {
  %y = comm.all_gather %x dims [0] over @eight {tp, pp, dp} : (tensor<2x4xf32>) -> tensor<16x4xf32>
  return %y : tensor<16x4xf32>
}

// The inner axis first: a block of the reduced tensor goes over the outer.
// CHECK-LABEL: func @reduce_scatter
// CHECK-NEXT: %[[R:.*]] = tg.reshape %arg0 : tensor<12x2xf32> -> tensor<2x6x2xf32>
// CHECK-NEXT: %[[A:.*]] = comm.reduce_scatter sum %[[R]] dims [1] over @six {tp} : (tensor<2x6x2xf32>) -> tensor<2x2x2xf32>
// CHECK-NEXT: %[[B:.*]] = comm.reduce_scatter sum %[[A]] dims [0] over @six {dp} : (tensor<2x2x2xf32>) -> tensor<1x2x2xf32>
// CHECK-NEXT: tg.reshape %[[B]] : tensor<1x2x2xf32> -> tensor<2x2xf32>
func.func @reduce_scatter(%x: tensor<12x2xf32> {comm.sharding = #comm.sharding<@six, {} {}, partial sum {dp, tp}>}) -> (tensor<2x2xf32> {comm.sharding = #comm.sharding<@six, {dp, tp} {}>, comm.global = tensor<12x2xf32>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.reduce_scatter sum %x dims [0] over @six {dp, tp} : (tensor<12x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func @flat
// CHECK: tg.pad {{.*}} : tensor<15xf32> -> tensor<18xf32>
// CHECK: comm.reduce_scatter {{.*}} over @six {tp}
// CHECK: comm.reduce_scatter {{.*}} over @six {dp}
// CHECK: comm.all_gather {{.*}} over @six {dp}
// CHECK: comm.all_gather {{.*}} over @six {tp}
// CHECK: tg.slice {{.*}} : tensor<18xf32> -> tensor<15xf32>
// CHECK: tg.reshape {{.*}} : tensor<15xf32> -> tensor<3x5xf32>
func.func @flat(%x: tensor<3x5xf32> {comm.sharding = #comm.sharding<@six, {} {}, partial sum {dp, tp}>}, %s: tensor<3xf32> {comm.sharding = #comm.sharding<@six, {} {}, flat {dp, tp}>, comm.global = tensor<3x5xf32>})
    -> (tensor<3xf32> {comm.sharding = #comm.sharding<@six, {} {}, flat {dp, tp}>, comm.global = tensor<3x5xf32>}, tensor<3x5xf32> {comm.sharding = #comm.sharding<@six, {} {}>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.reduce_scatter sum %x dims [flat] over @six {dp, tp} : (tensor<3x5xf32>) -> tensor<3xf32>
  %z = comm.all_gather %s dims [flat] over @six {dp, tp} : (tensor<3xf32>) -> tensor<3x5xf32>
  return %y, %z : tensor<3xf32>, tensor<3x5xf32>
}

// CHECK-LABEL: func @all_to_all
// CHECK: comm.all_to_all {{.*}} split [3] concat [0] over @six {dp} : (tensor<1x1x2x2x3x1xf32>) -> tensor<2x1x2x1x3x1xf32>
// CHECK: comm.all_to_all {{.*}} split [4] concat [1] over @six {tp} : (tensor<2x1x2x1x3x1xf32>) -> tensor<2x3x2x1x1x1xf32>
// CHECK: tg.reshape {{.*}} : tensor<2x3x2x1x1x1xf32> -> tensor<12x1xf32>
func.func @all_to_all(%x: tensor<2x6xf32> {comm.sharding = #comm.sharding<@six, {dp, tp} {}>, comm.global = tensor<12x6xf32>}) -> (tensor<12x1xf32> {comm.sharding = #comm.sharding<@six, {} {dp, tp}>, comm.global = tensor<12x6xf32>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.all_to_all %x split [1] concat [0] over @six {dp, tp} : (tensor<2x6xf32>) -> tensor<12x1xf32>
  return %y : tensor<12x1xf32>
}

// CHECK-LABEL: func @all_to_all_along_one_dim
// CHECK-COUNT-2: comm.all_to_all
func.func @all_to_all_along_one_dim(%x: tensor<6x2xf32> {comm.sharding = #comm.sharding<@six, {tp, dp} {}>, comm.global = tensor<36x2xf32>}) -> (tensor<6x2xf32> {comm.sharding = #comm.sharding<@six, {tp, dp} {}>, comm.global = tensor<36x2xf32>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.all_to_all %x split [0] concat [0] over @six {tp, dp} : (tensor<6x2xf32>) -> tensor<6x2xf32>
  return %y : tensor<6x2xf32>
}

// CHECK-LABEL: func @all_to_all_of_three
// CHECK-COUNT-3: comm.all_to_all
func.func @all_to_all_of_three(%x: tensor<8x2xf32> {comm.sharding = #comm.sharding<@eight, {} {pp, tp, dp}>, comm.global = tensor<8x16xf32>}) -> (tensor<1x16xf32> {comm.sharding = #comm.sharding<@eight, {pp, tp, dp} {}>, comm.global = tensor<8x16xf32>})
    attributes {comm.program = #comm.program<@eight>} {
  %y = comm.all_to_all %x split [0] concat [1] over @eight {pp, tp, dp} : (tensor<8x2xf32>) -> tensor<1x16xf32>
  return %y : tensor<1x16xf32>
}

// CHECK-LABEL: func @broadcast
// CHECK: %[[A:.*]] = comm.broadcast %arg0 root 1 over @six {dp}
// CHECK: comm.broadcast %[[A]] root 2 over @six {tp}
func.func @broadcast(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@six, {dp, tp}>, comm.global = tensor<24xf32>}) -> (tensor<4xf32> {comm.sharding = #comm.sharding<@six, {}>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.broadcast %x root 5 over @six {dp, tp} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// One axis.
// CHECK-LABEL: func @one_axis
// CHECK-NEXT: comm.all_reduce sum %arg0
func.func @one_axis(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@six, {}, partial sum {tp}>}) -> (tensor<4xf32> {comm.sharding = #comm.sharding<@six, {}>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.all_reduce sum %x over @six {tp} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

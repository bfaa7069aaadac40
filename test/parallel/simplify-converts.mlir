// A gather moves the narrower of two types.
//
// RUN: braid-opt %s --comm-simplify --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @narrow
// CHECK: %[[N:.*]] = tg.convert %{{.*}} : tensor<3xf32> -> tensor<3xbf16>
// CHECK: %[[G:.*]] = comm.all_gather %[[N]] dims [flat] over @mesh {dp} : (tensor<3xbf16>) -> tensor<5xbf16>
// CHECK: return %[[G]]
comm.mesh @mesh [dp = 2]
func.func @narrow(%x: tensor<3xf32> {comm.global = tensor<5xf32>, comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>}) -> tensor<5xbf16>
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [flat] over @mesh {dp} : (tensor<3xf32>) -> tensor<5xf32>
  %n = tg.convert %g : tensor<5xf32> -> tensor<5xbf16>
  return %n : tensor<5xbf16>
}

// -----

// CHECK-LABEL: func.func @widen
// CHECK: %[[G:.*]] = comm.all_gather %{{.*}} dims [0] over @mesh {dp} : (tensor<2xbf16>) -> tensor<4xbf16>
// CHECK: %[[W:.*]] = tg.convert %[[G]] : tensor<4xbf16> -> tensor<4xf32>
// CHECK: return %[[W]]
comm.mesh @mesh [dp = 2]
func.func @widen(%x: tensor<2xbf16> {comm.global = tensor<4xbf16>, comm.sharding = #comm.sharding<@mesh, {dp}>}) -> tensor<4xf32>
    attributes {comm.program = #comm.program<@mesh>} {
  %w = tg.convert %x : tensor<2xbf16> -> tensor<2xf32>
  %g = comm.all_gather %w dims [0] over @mesh {dp} : (tensor<2xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// What is read in f32, too, is gathered in f32.
// CHECK-LABEL: func.func @both
// CHECK: comm.all_gather {{.*}} : (tensor<2xf32>) -> tensor<4xf32>
comm.mesh @mesh [dp = 2]
func.func @both(%x: tensor<2xf32> {comm.global = tensor<4xf32>, comm.sharding = #comm.sharding<@mesh, {dp}>}) -> (tensor<4xf32>, tensor<4xbf16>)
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {dp} : (tensor<2xf32>) -> tensor<4xf32>
  %n = tg.convert %g : tensor<4xf32> -> tensor<4xbf16>
  return %g, %n : tensor<4xf32>, tensor<4xbf16>
}

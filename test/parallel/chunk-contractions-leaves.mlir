// What comm-chunk-contractions leaves alone, says, and refuses.
//
// RUN: braid-opt %s --split-input-file --exec-set-machine="link=1,0.1 compute=1,100" --comm-chunk-contractions="axes=tp chunks=2" 2>&1 | FileCheck %s --implicit-check-not=tg.slice
// RUN: braid-opt %s --split-input-file --comm-chunk-contractions 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not=tg.slice --implicit-check-not=remark
// RUN: not braid-opt %s --split-input-file --comm-chunk-contractions=axes=pp 2>&1 | FileCheck %s --check-prefix=AXIS
// NONE: @odd
// AXIS: error: comm-chunk-contractions: unknown mesh axis 'pp' (mesh: {dp = 2, tp = 2})

// Rows that do not divide.
// CHECK: remark: @odd: 0 of 1 collectives over {tp} with adjacent contractions are split into 2 chunks; the rows of 1 do not divide into as many chunks
// CHECK-LABEL: func.func @odd
comm.mesh @mesh [dp = 2, tp = 2]
func.func @odd(%x: tensor<63x64xf32>, %w: tensor<64x16xf32>) -> tensor<63x16xf32> attributes {comm.program = #comm.program<@mesh>} {
  %p = tg.contract "bf,fd->bd" %x, %w : (tensor<63x64xf32>, tensor<64x16xf32>) -> tensor<63x16xf32>
  %y = comm.all_reduce sum %p over @mesh {tp} : (tensor<63x16xf32>) -> tensor<63x16xf32>
  return %y : tensor<63x16xf32>
}

// -----

// What would take longer: few rows, whose messages cost more latency than computing hides.
// CHECK: remark: @small: 0 of 1 collectives over {tp} with adjacent contractions are split into 2 chunks; 1 would gain less than a percent, {{.*}} us instead of {{.*}} us
// CHECK-LABEL: func.func @small
comm.mesh @mesh [dp = 2, tp = 2]
func.func @small(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {comm.program = #comm.program<@mesh>} {
  %p = tg.contract "bf,fd->bd" %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = comm.all_reduce sum %p over @mesh {tp} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// Hidden already: what is computed behind it takes longer.
// CHECK: remark: @hidden: 0 of 1 collectives {{.*}} are split into 2 chunks; 1 would gain less than a percent
// CHECK-LABEL: func.func @hidden
comm.mesh @mesh [dp = 2, tp = 2]
func.func @hidden(%x: tensor<64x64xf32>, %w: tensor<64x16xf32>, %dy: tensor<64x128xf32>) -> (tensor<64x16xf32>, tensor<64x128xf32>) attributes {comm.program = #comm.program<@mesh>} {
  %p = tg.contract "bf,fd->bd" %x, %w : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  %y = comm.all_reduce sum %p over @mesh {tp} : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %dw = tg.contract "bf,bd->fd" %x, %dy : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return %y, %dw : tensor<64x16xf32>, tensor<64x128xf32>
}

// -----

// Over other axes, of the gradient of a weight, of what something else reads before, and along the dim that
// ranks cut.
// CHECK: remark: @others: no collective over {tp} has adjacent contractions that can be computed in chunks of rows
// CHECK-LABEL: func.func @others
comm.mesh @mesh [dp = 2, tp = 2]
func.func @others(%x: tensor<64x64xf32>, %w: tensor<64x16xf32>, %g: tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<32x16xf32>) attributes {comm.program = #comm.program<@mesh>} {
  %p = tg.contract "bf,fd->bd" %x, %w : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  %y = comm.all_reduce sum %p over @mesh {dp} : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %q = tg.contract "bf,bd->fd" %x, %g : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32> loc(fused<#tg.facts<backward, of = "w", as = gradient>>["q"])
  %dw = comm.all_reduce sum %q over @mesh {tp} : (tensor<64x16xf32>) -> tensor<64x16xf32> loc(fused<#tg.facts<backward, of = "w", as = gradient>>["dw"])
  %r = tg.contract "bf,fd->bd" %x, %g : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  %s = comm.all_reduce sum %r over @mesh {tp} : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %t = tg.contract "bf,fd->bd" %x, %y : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  %u = comm.reduce_scatter sum %t dims [0] over @mesh {tp} : (tensor<64x16xf32>) -> tensor<32x16xf32>
  return %dw, %r, %s, %y, %u : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x16xf32>, tensor<32x16xf32>
}

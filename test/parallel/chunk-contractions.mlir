// Collectives and the contractions beside them, in chunks of rows.  What is computed is the same.
//
// DEFINE: %{chunk} = exec-set-machine{link=1,0.1 compute=1,100},func.func(comm-chunk-contractions{axes=tp chunks=2})
// DEFINE: %{auto} = exec-set-machine{link=1,0.1 compute=1,100},func.func(comm-chunk-contractions{axes=tp})
// RUN: braid-opt %s --pass-pipeline="builtin.module(comm-shard,%{chunk})" | FileCheck %s
// RUN: braid-opt %s --pass-pipeline="builtin.module(comm-shard,%{chunk})" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: braid-opt %s --pass-pipeline="builtin.module(comm-shard,%{auto})" 2>&1 >/dev/null | FileCheck %s --check-prefix=AUTO
// RUN: braid-interp %s --compare --pipeline="comm-shard,%{chunk}" --rtol=1e-5
// RUN: braid-interp %s --compare --pipeline="comm-shard,%{auto}" --rtol=1e-5

comm.mesh @mesh [tp = 2]

// Behind a contraction: the sum of a chunk is under way while the next is computed.
// REMARK: remark: @rows: 1 of 1 collectives over {tp} with adjacent contractions are split into 2 chunks, and take {{.*}} us instead of {{.*}} us{{$}}
// AUTO: remark: @rows: 1 of 1 collectives over {tp} with adjacent contractions are split into {{[248]}} chunks, and take
// CHECK-LABEL: @rows
// CHECK: %[[X0:.*]] = tg.slice %arg0 dim 0 offset 0 size 32
// CHECK: %[[P0:.*]] = tg.contract "bf,fd->bd" %[[X0]], %arg1
// CHECK: %[[Y0:.*]] = comm.all_reduce sum %[[P0]] over @mesh {tp} : (tensor<32x16xf32>) -> tensor<32x16xf32>
// CHECK: %[[X1:.*]] = tg.slice %arg0 dim 0 offset 32 size 32
// CHECK: %[[P1:.*]] = tg.contract "bf,fd->bd" %[[X1]], %arg1
// CHECK: %[[Y1:.*]] = comm.all_reduce sum %[[P1]]
// CHECK-NEXT: %[[Y:.*]] = tg.concat %[[Y0]], %[[Y1]] dim 0
// CHECK-NOT: comm.
// CHECK: return %[[Y]]
func.func @rows(%x: tensor<64x64xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}, %w: tensor<64x16xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
    -> (tensor<64x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>}) {
  %y = tg.contract "bf,fd->bd" %x, %w : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}

// A sum of contractions, as the gradient of what several weights read; one sequence is cut by positions.
// CHECK-LABEL: @sum
// CHECK: tg.contract {{.*}} -> tensor<1x16x16xf32>
// CHECK: tg.contract {{.*}} -> tensor<1x16x16xf32>
// CHECK: %[[S0:.*]] = arith.addf
// CHECK: comm.all_reduce sum %[[S0]]
// CHECK: tg.contract {{.*}} -> tensor<1x16x16xf32>
// CHECK: tg.contract {{.*}} -> tensor<1x16x16xf32>
// CHECK: %[[S1:.*]] = arith.addf
// CHECK: comm.all_reduce sum %[[S1]]
// CHECK: tg.concat {{.*}} dim 1
func.func @sum(%x: tensor<1x32x32xf32> {comm.sharding = #comm.sharding<@mesh, {} {} {tp}>}, %w: tensor<32x16xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>},
               %z: tensor<1x32x32xf32> {comm.sharding = #comm.sharding<@mesh, {} {} {tp}>}, %v: tensor<32x16xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
    -> (tensor<1x32x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {} {}>}) {
  %a = tg.contract "bsf,fd->bsd" %x, %w : (tensor<1x32x32xf32>, tensor<32x16xf32>) -> tensor<1x32x16xf32>
  %b = tg.contract "bsf,fd->bsd" %z, %v : (tensor<1x32x32xf32>, tensor<32x16xf32>) -> tensor<1x32x16xf32>
  %y = arith.addf %a, %b : tensor<1x32x16xf32>
  return %y : tensor<1x32x16xf32>
}

// Before contractions: two that share a gather, their product, and an activation with its bias.  The gradient of a
// weight reads the joined chunks.
// CHECK-LABEL: @gate
// CHECK: %[[G0:.*]] = comm.all_gather {{.*}} dims [1] over @mesh {tp} : (tensor<2x8x16xf32>) -> tensor<2x16x16xf32>
// CHECK: %[[A0:.*]] = tg.contract "bsd,df->bsf" %[[G0]], {{.*}} -> tensor<2x16x16xf32>
// CHECK: %[[R0:.*]] = tg.broadcast {{.*}} -> tensor<2x16x16xf32>
// CHECK: arith.addf %[[A0]], %[[R0]]
// CHECK: tg.silu {{.*}} : tensor<2x16x16xf32>
// CHECK: tg.contract "bsd,df->bsf" %[[G0]]
// CHECK: %[[M0:.*]] = arith.mulf
// CHECK: %[[G1:.*]] = comm.all_gather
// CHECK: tg.contract "bsd,df->bsf" %[[G1]]
// CHECK: tg.contract "bsd,df->bsf" %[[G1]]
// CHECK: %[[M1:.*]] = arith.mulf
// CHECK: %[[G:.*]] = tg.concat %[[G0]], %[[G1]] dim 0
// CHECK: tg.concat %[[M0]], %[[M1]] dim 0
// CHECK: tg.contract "bsd,bsf->df" %[[G]]
func.func @gate(%x: tensor<4x16x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp} {}, priority 1>}, %w: tensor<16x32xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                %c: tensor<32xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>}, %v: tensor<16x32xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>})
    -> (tensor<4x16x32xf32> {comm.sharding = #comm.sharding<@mesh, {} {} {tp}>}, tensor<16x32xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) {
  %a = tg.contract "bsd,df->bsf" %x, %w : (tensor<4x16x16xf32>, tensor<16x32xf32>) -> tensor<4x16x32xf32>
  %r = tg.broadcast %c dims [2] : tensor<32xf32> -> tensor<4x16x32xf32>
  %s = arith.addf %a, %r : tensor<4x16x32xf32>
  %g = tg.silu %s : tensor<4x16x32xf32>
  %u = tg.contract "bsd,df->bsf" %x, %v : (tensor<4x16x16xf32>, tensor<16x32xf32>) -> tensor<4x16x32xf32>
  %m = arith.mulf %g, %u : tensor<4x16x32xf32>
  %dw = tg.contract "bsd,bsf->df" %x, %m : (tensor<4x16x16xf32>, tensor<4x16x32xf32>) -> tensor<16x32xf32>
  return %m, %dw : tensor<4x16x32xf32>, tensor<16x32xf32>
}

// A reduce_scatter behind a contraction.
// CHECK-LABEL: @scatter
// CHECK: %[[P0:.*]] = tg.contract {{.*}} -> tensor<2x16x16xf32>
// CHECK: comm.reduce_scatter sum %[[P0]] dims [1] over @mesh {tp} : (tensor<2x16x16xf32>) -> tensor<2x8x16xf32>
// CHECK: %[[P1:.*]] = tg.contract {{.*}} -> tensor<2x16x16xf32>
// CHECK: comm.reduce_scatter sum %[[P1]]
// CHECK: tg.concat {{.*}} dim 0 : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<4x8x16xf32>
func.func @scatter(%x: tensor<4x16x32xf32> {comm.sharding = #comm.sharding<@mesh, {} {} {tp}>}, %w: tensor<32x16xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
    -> (tensor<4x16x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp} {}, priority 1>}) {
  %y = tg.contract "bsf,fd->bsd" %x, %w : (tensor<4x16x32xf32>, tensor<32x16xf32>) -> tensor<4x16x16xf32>
  return %y : tensor<4x16x16xf32>
}

// One sequence, of which each rank has a block of positions: a chunk is received with a part of each block, which
// is a dim of its own, and what is computed of it lies in as many ranges.
// CHECK-LABEL: @blocks_gathered
// CHECK: %[[OWN0:.*]] = tg.slice %arg0 dim 1 offset 0 size 16 : tensor<1x32x16xf32> -> tensor<1x16x16xf32>
// CHECK: %[[G0:.*]] = comm.all_gather %[[OWN0]] dims [1] over @mesh {tp} : (tensor<1x16x16xf32>) -> tensor<1x32x16xf32>
// CHECK: %[[B0:.*]] = tg.reshape %[[G0]] : tensor<1x32x16xf32> -> tensor<2x16x16xf32>
// CHECK: %[[Y0:.*]] = tg.contract "bsd,df->bsf" %[[B0]], {{.*}} -> tensor<2x16x16xf32>
// CHECK: %[[R0:.*]] = tg.broadcast %{{.*}} dims [2] : tensor<16xf32> -> tensor<2x16x16xf32>
// CHECK: %[[Z0:.*]] = arith.addf %[[Y0]], %[[R0]] : tensor<2x16x16xf32>
// CHECK: tg.slice %arg0 dim 1 offset 16 size 16
// CHECK: %[[B1:.*]] = tg.reshape
// CHECK: %[[Z1:.*]] = arith.addf
// CHECK: %[[G:.*]] = tg.concat %[[B0]], %[[B1]] dim 1 : (tensor<2x16x16xf32>, tensor<2x16x16xf32>) -> tensor<2x32x16xf32>
// CHECK: %[[X:.*]] = tg.reshape %[[G]] : tensor<2x32x16xf32> -> tensor<1x64x16xf32>
// CHECK: tg.concat %[[Z0]], %[[Z1]] dim 1
// CHECK: tg.contract "bsd,bsf->df" %[[X]]
func.func @blocks_gathered(%x: tensor<1x64x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp} {}, priority 1>}, %w: tensor<16x32xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                           %c: tensor<32xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>})
    -> (tensor<1x64x32xf32> {comm.sharding = #comm.sharding<@mesh, {} {} {tp}>}, tensor<16x32xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) {
  %a = tg.contract "bsd,df->bsf" %x, %w : (tensor<1x64x16xf32>, tensor<16x32xf32>) -> tensor<1x64x32xf32>
  %r = tg.broadcast %c dims [2] : tensor<32xf32> -> tensor<1x64x32xf32>
  %z = arith.addf %a, %r : tensor<1x64x32xf32>
  %dw = tg.contract "bsd,bsf->df" %x, %z : (tensor<1x64x16xf32>, tensor<1x64x32xf32>) -> tensor<16x32xf32>
  return %z, %dw : tensor<1x64x32xf32>, tensor<16x32xf32>
}

// CHECK-LABEL: @blocks_scattered
// CHECK: %[[V0:.*]] = tg.reshape %arg0 : tensor<1x32x16xf32> -> tensor<2x16x16xf32>
// CHECK: %[[X0:.*]] = tg.slice %[[V0]] dim 1 offset 0 size 8 : tensor<2x16x16xf32> -> tensor<2x8x16xf32>
// CHECK: %[[P0:.*]] = tg.contract "bsf,fd->bsd" %[[X0]], {{.*}} -> tensor<2x8x16xf32>
// CHECK: %[[S0:.*]] = tg.reshape %[[P0]] : tensor<2x8x16xf32> -> tensor<1x16x16xf32>
// CHECK: comm.reduce_scatter sum %[[S0]] dims [1] over @mesh {tp} : (tensor<1x16x16xf32>) -> tensor<1x8x16xf32>
// CHECK: comm.reduce_scatter sum
// CHECK: tg.concat {{.*}} dim 1 : (tensor<1x8x16xf32>, tensor<1x8x16xf32>) -> tensor<1x16x16xf32>
func.func @blocks_scattered(%x: tensor<1x32x32xf32> {comm.sharding = #comm.sharding<@mesh, {} {} {tp}>}, %w: tensor<32x16xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
    -> (tensor<1x32x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp} {}, priority 1>}) {
  %y = tg.contract "bsf,fd->bsd" %x, %w : (tensor<1x32x32xf32>, tensor<32x16xf32>) -> tensor<1x32x16xf32>
  return %y : tensor<1x32x16xf32>
}

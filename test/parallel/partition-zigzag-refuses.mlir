// What positions in zigzag cannot be is an error, never wrong code.
//
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(comm-propagate,comm-insert-reshards),comm-partition)" --split-input-file --verify-diagnostics

module attributes {comm.zigzag = #comm<axes{cp}>} {
  comm.mesh @mesh [cp = 2]
  // expected-error @below {{argument #0: dim 1 of 'tensor<2x6xf32>' cannot be held as #comm.sharding<@mesh, {} {cp}>: 6 positions do not divide into 4 zigzag blocks over {cp}: 4 divides 4 and 8, and 3 and 6 divide 6 (the sequence, --seq of braid-model); shard the sequence in order (--context-order=straight)}}
  func.func @blocks(%x: tensor<2x6xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {} {cp}>}) -> tensor<2x6xf32> {
    %y = math.exp %x : tensor<2x6xf32>
    return %y : tensor<2x6xf32>
  }
}

// -----

module attributes {comm.zigzag = #comm<axes{cp}>} {
  comm.mesh @mesh [cp = 2, tp = 3]
  // expected-error @below {{argument #0: dim 1 of 'tensor<2x12xf32>' cannot be held as #comm.sharding<@mesh, {} {cp, tp}>: two blocks of a zigzag over 'cp' do not divide into 3 parts over {tp}; shard the sequence in order (--context-order=straight)}}
  func.func @shares(%x: tensor<2x12xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {} {cp, tp}>}) -> tensor<2x12xf32> {
    %y = math.exp %x : tensor<2x12xf32>
    return %y : tensor<2x12xf32>
  }
}

// -----

// Two rows of positions are not four blocks.
module attributes {comm.zigzag = #comm<axes{cp}>} {
  comm.mesh @mesh [cp = 2]
  func.func @split(%x: tensor<1x8xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {} {cp}>}) -> tensor<2x4xf32> {
    // expected-error @below {{cannot be sharded in zigzag: 2 positions do not divide into 4 zigzag blocks over {cp}: 4 divides 4, and 2 divides 2 (the sequence, --seq of braid-model); shard the sequence in order (--context-order=straight)}}
    %y = tg.reshape %x : tensor<1x8xf32> -> tensor<2x4xf32>
    return %y : tensor<2x4xf32>
  }
}

// -----

module attributes {comm.zigzag = #comm<axes{pp}>} {
  comm.mesh @mesh [cp = 2]
  // expected-error @below {{'comm.zigzag' of the module: }}
  func.func @axis(%x: tensor<1x8xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {} {cp}>}) -> tensor<1x8xf32> {
    %y = math.exp %x : tensor<1x8xf32>
    return %y : tensor<1x8xf32>
  }
}

// What cannot be a ring in zigzag is an error, never wrong code.
//
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(comm-form-rings))" --split-input-file --verify-diagnostics

// Queries in zigzag, but keys in order: the rank's own block then has not the positions of its queries.
module attributes {comm.ring = #comm<axes{cp}>, comm.zigzag = #comm<axes{cp}>} {
  comm.mesh @mesh [cp = 2]
  func.func @keys(%q: tensor<1x2x2x4xf32>, %k: tensor<1x4x2x4xf32>, %at: tensor<i32>, %zero: tensor<i32>) -> tensor<1x2x2x4xf32>
      attributes {comm.program = #comm.program<@mesh>} {
    %keys = comm.all_gather %k dims [1] over @mesh {cp} : (tensor<1x4x2x4xf32>) -> tensor<1x8x2x4xf32>
    // expected-error @below {{tg.attention cannot be a ring over {cp}: its queries are in zigzag, but the operands that go around the ring are in order; shard the sequence in order (--context-order=straight)}}
    %o, %lse = tg.attention %q, %keys, %keys at %at, %zero scale 0.5 causal {comm.half = 0}
        : (tensor<1x2x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2xf32>)
    return %o : tensor<1x2x2x4xf32>
  }
}

// -----

// Keys in zigzag, but queries of which nobody knows to which half they belong.
module attributes {comm.ring = #comm<axes{cp}>, comm.zigzag = #comm<axes{cp}>} {
  comm.mesh @mesh [cp = 2]
  func.func @queries(%q: tensor<1x2x2x4xf32>, %k: tensor<1x4x2x4xf32>, %at: tensor<i32>, %zero: tensor<i32>) -> tensor<1x2x2x4xf32>
      attributes {comm.program = #comm.program<@mesh>} {
    %gathered = comm.all_gather %k dims [1] over @mesh {cp} : (tensor<1x4x2x4xf32>) -> tensor<1x8x2x4xf32>
    %keys = tg.reorder %gathered dim 1 order [0, 2, 3, 1] : tensor<1x8x2x4xf32>
    // expected-error @below {{tg.attention cannot be a ring in zigzag over {cp}: its queries are not one half of the queries of a rank; shard the sequence in order (--context-order=straight)}}
    %o, %lse = tg.attention %q, %keys, %keys at %at, %zero scale 0.5 causal
        : (tensor<1x2x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2xf32>)
    return %o : tensor<1x2x2x4xf32>
  }
}

// -----

// Blocks in another order than that of the zigzag are not what goes round.
module attributes {comm.ring = #comm<axes{cp}>, comm.zigzag = #comm<axes{cp}>} {
  comm.mesh @mesh [cp = 2]
  func.func @order(%q: tensor<1x2x2x4xf32>, %k: tensor<1x4x2x4xf32>, %at: tensor<i32>, %zero: tensor<i32>) -> tensor<1x2x2x4xf32>
      attributes {comm.program = #comm.program<@mesh>} {
    %gathered = comm.all_gather %k dims [1] over @mesh {cp} : (tensor<1x4x2x4xf32>) -> tensor<1x8x2x4xf32>
    %keys = tg.reorder %gathered dim 1 order [1, 0] : tensor<1x8x2x4xf32>
    // expected-error @below {{tg.attention cannot be a ring over {cp}: its operand #1 is gathered over {cp}, but the operands that go around the ring are not}}
    %o, %lse = tg.attention %q, %keys, %keys at %at, %zero scale 0.5 causal {comm.half = 0}
        : (tensor<1x2x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2xf32>)
    return %o : tensor<1x2x2x4xf32>
  }
}

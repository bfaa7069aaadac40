// What each op refuses: the message names the two shapes, or numbers, that
// disagree.
//
// RUN: braid-opt %s --split-input-file --verify-diagnostics

func.func @contract_form(%x: tensor<4x8xf32>) {
  // expected-error @below {{"bd" is not of the form "ab,bc->ac"}}
  %y = tg.contract "bd" %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @contract_rank(%x: tensor<4x8xf32>) {
  // expected-error @below {{'bsd' of "bsd,bd->bs" names 3 dims but its operand is 'tensor<4x8xf32>'}}
  %y = tg.contract "bsd,bd->bs" %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @contract_size(%x: tensor<4x8xf32>, %w: tensor<9x3xf32>) {
  // expected-error @below {{'d' of "bd,df->bf" is 8 in the left operand but 9 in 'tensor<9x3xf32>'}}
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<9x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @contract_twice(%x: tensor<8x8xf32>) {
  // expected-error @below {{'dd' of "dd,df->f" names 'd' twice}}
  %y = tg.contract "dd,df->f" %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @contract_letter(%x: tensor<8x8xf32>) {
  // expected-error @below {{"b1,1f->bf" has '1', which is not a letter}}
  %y = tg.contract "b1,1f->bf" %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @contract_unknown(%x: tensor<8x8xf32>) {
  // expected-error @below {{result letter 'g' of "bd,df->bg" must name one dim of an operand, once}}
  %y = tg.contract "bd,df->bg" %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @contract_once(%x: tensor<8x8xf32>) {
  // expected-error @below {{'d' of "bd,cf->bf" appears in one place only; reduce that dim first}}
  %y = tg.contract "bd,cf->bf" %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @contract_elements(%x: tensor<8x8xf32>, %w: tensor<8x8xbf16>) {
  // expected-error @below {{operands have the element types 'tensor<8x8xf32>' and 'tensor<8x8xbf16>'}}
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<8x8xf32>, tensor<8x8xbf16>) -> tensor<8x8xf32>
  return
}

// -----

func.func @contract_result(%x: tensor<8x8xf32>) {
  // expected-error @below {{'tg.contract' op makes tensor<8x8xf32> of (tensor<8x8xf32>, tensor<8x8xf32>), found tensor<8x9xf32>: write "-> tensor<8x8xf32>"}}
  %y = tg.contract "bd,df->bf" %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x9xf32>
  return
}

// -----

func.func @broadcast_element(%x: tensor<8xf32>) {
  // expected-error @below {{'tg.broadcast' op changes the element type from 'tensor<8xf32>' to 'tensor<4x8xbf16>'}}
  %y = tg.broadcast %x dims [1] : tensor<8xf32> -> tensor<4x8xbf16>
  return
}

// -----

func.func @broadcast_count(%x: tensor<8xf32>) {
  // expected-error @below {{'tg.broadcast' op has 2 dims but the operand is 'tensor<8xf32>'}}
  %y = tg.broadcast %x dims [0, 1] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_order(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tg.broadcast' op dims must be strictly increasing and below the rank of 'tensor<8x4xf32>', found 0}}
  %y = tg.broadcast %x dims [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @broadcast_size(%x: tensor<8xf32>) {
  // expected-error @below {{'tg.broadcast' op dim 0 of 'tensor<8xf32>' does not fit dim 0 of 'tensor<4x8xf32>'}}
  %y = tg.broadcast %x dims [0] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @reduce_range(%x: tensor<4x8xf32>) {
  // expected-error @below {{dim 2 is out of range for 'tensor<4x8xf32>'}}
  %y = tg.reduce sum %x dims [2] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_order(%x: tensor<4x8xf32>) {
  // expected-error @below {{dims must be strictly increasing, found 0 after 1}}
  %y = tg.reduce sum %x dims [1, 0] : tensor<4x8xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_result(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tg.reduce' op makes tensor<4xf32> of tensor<4x8xf32>, found tensor<8xf32>: write "-> tensor<4xf32>"}}
  %y = tg.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @reduce_kind(%x: tensor<4x8xf32>) {
  // expected-error @below {{custom op 'tg.reduce' expected string or keyword containing one of the following enum values for attribute 'kind' [sum, max, mean]}}
  %y = tg.reduce product %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @transpose_count(%x: tensor<4x8xf32>) {
  // expected-error @below {{permutation has 1 dims but the operand is 'tensor<4x8xf32>'}}
  %y = tg.transpose %x [0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @transpose_range(%x: tensor<4x8xf32>) {
  // expected-error @below {{dim 2 is out of range for 'tensor<4x8xf32>'}}
  %y = tg.transpose %x [0, 2] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<4x8xf32>) {
  // expected-error @below {{permutation names dim 1 twice}}
  %y = tg.transpose %x [1, 1] : tensor<4x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @transpose_result(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tg.transpose' op makes tensor<8x4xf32> of tensor<4x8xf32>, found tensor<4x8xf32>: write "-> tensor<8x4xf32>"}}
  %y = tg.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @reshape(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tg.reshape' op from 'tensor<4x8xf32>' (32 elements) to 'tensor<5x7xf32>' (35 elements)}}
  %y = tg.reshape %x : tensor<4x8xf32> -> tensor<5x7xf32>
  return
}

// -----

func.func @slice_dim(%x: tensor<4x8xf32>) {
  // expected-error @below {{dim 2 is out of range for 'tensor<4x8xf32>'}}
  %y = tg.slice %x dim 2 offset 0 size 1 : tensor<4x8xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @slice_range(%x: tensor<4x8xf32>) {
  // expected-error @below {{slice of offset 6, size 3 and stride 1 exceeds dim 1 of 'tensor<4x8xf32>'}}
  %y = tg.slice %x dim 1 offset 6 size 3 : tensor<4x8xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @slice_overflow(%x: tensor<4x8xf32>) {
  // expected-error @below {{slice of offset 9223372036854775807, size 2 and stride 1 exceeds dim 1 of 'tensor<4x8xf32>'}}
  %y = tg.slice %x dim 1 offset 9223372036854775807 size 2 : tensor<4x8xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @slice_result(%x: tensor<4x8xf32>) {
  // expected-error @below {{'tg.slice' op makes tensor<4x3xf32> of tensor<4x8xf32>, found tensor<4x4xf32>: write "-> tensor<4x3xf32>"}}
  %y = tg.slice %x dim 1 offset 0 size 3 : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @reorder_dim(%x: tensor<4x8xf32>) {
  // expected-error @below {{dim 2 is out of range for 'tensor<4x8xf32>'}}
  %y = tg.reorder %x dim 2 order [1, 0] : tensor<4x8xf32>
  return
}

// -----

func.func @reorder_twice(%x: tensor<4x8xf32>) {
  // expected-error @below {{order must name each of its 4 blocks once, from 0 to 3}}
  %y = tg.reorder %x dim 1 order [0, 3, 3, 2] : tensor<4x8xf32>
  return
}

// -----

func.func @reorder_blocks(%x: tensor<4x8xf32>) {
  // expected-error @below {{3 blocks do not divide dim 1 of 'tensor<4x8xf32>' into equal parts}}
  %y = tg.reorder %x dim 1 order [0, 2, 1] : tensor<4x8xf32>
  return
}

// -----

func.func @reorder_nothing(%x: tensor<4x8xf32>) {
  // expected-error @below {{0 blocks do not divide dim 1 of 'tensor<4x8xf32>' into equal parts}}
  %y = tg.reorder %x dim 1 order [] : tensor<4x8xf32>
  return
}

// -----

func.func @concat_empty() {
  // expected-error @below {{concat needs at least one operand}}
  %y = tg.concat dim 0 : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_shape(%x: tensor<4x8xf32>, %z: tensor<5x8xf32>) {
  // expected-error @below {{an operand is 'tensor<5x8xf32>' but concat with the first operand needs 'tensor<4x8xf32>'}}
  %y = tg.concat %x, %z dim 1 : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @concat_rank(%x: tensor<4x8xf32>, %z: tensor<5xf32>) {
  // expected-error @below {{an operand is 'tensor<5xf32>' but concat with the first operand needs 'tensor<4x8xf32>'}}
  %y = tg.concat %x, %z dim 1 : (tensor<4x8xf32>, tensor<5xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @concat_dim(%x: tensor<4x8xf32>) {
  // expected-error @below {{dim 2 is out of range for 'tensor<4x8xf32>'}}
  %y = tg.concat %x dim 2 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @pad_negative(%x: tensor<4xf32>) {
  // expected-error @below {{padding must not be negative, found low -1 and high 0}}
  %y = tg.pad %x dim 0 low -1 high 0 value 0.0 : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----

func.func @pad_dim(%x: tensor<4xf32>) {
  // expected-error @below {{dim 1 is out of range for 'tensor<4xf32>'}}
  %y = tg.pad %x dim 1 low 1 high 0 value 0.0 : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @gather_rank(%x: tensor<4xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{table must have rank 2 (rows x width), found 'tensor<4xf32>'}}
  %y = tg.gather %x, %i : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @gather_result(%x: tensor<4x8xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{'tg.gather' op makes tensor<2x8xf32> of (tensor<4x8xf32>, tensor<2xi32>), found tensor<2x4xf32>: write "-> tensor<2x8xf32>"}}
  %y = tg.gather %x, %i : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @gather_index(%x: tensor<4x8xf32>, %i: tensor<2xf32>) {
  // expected-error @below {{operand 'indices' has the type 'tensor<2xf32>', expected a tensor of i32 or i64; tg.convert changes element types}}
  %y = tg.gather %x, %i : (tensor<4x8xf32>, tensor<2xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @scatter_rank(%x: tensor<2x8xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{'tg.scatter_add' op result must have rank 2 (rows x width), found 'tensor<8xf32>'}}
  %y = tg.scatter_add %i, %x : (tensor<2xi32>, tensor<2x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @scatter_shape(%x: tensor<3x8xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{'tg.scatter_add' op updates 'tensor<3x8xf32>' do not fit indices 'tensor<2xi32>' and result 'tensor<16x8xf32>'}}
  %y = tg.scatter_add %i, %x : (tensor<2xi32>, tensor<3x8xf32>) -> tensor<16x8xf32>
  return
}

// -----

func.func @iota() {
  // expected-error @below {{'tg.iota' op dim 1 is out of range for 'tensor<4xi32>'}}
  %y = tg.iota dim 1 : tensor<4xi32>
  return
}

// -----

func.func @convert(%x: tensor<4xf32>) {
  // expected-error @below {{'tg.convert' op requires the same shape for all operands and results}}
  %y = tg.convert %x : tensor<4xf32> -> tensor<5xbf16>
  return
}

// -----

func.func @random_key(%k: tensor<2xi32>) {
  // expected-error @below {{'tg.random_uniform' op key must be tensor<4xi32> (seed low, seed high, step, microbatch), found 'tensor<2xi32>'}}
  %y = tg.random_uniform %k stream 0 : tensor<2xi32> -> tensor<4xf32>
  return
}

// -----

func.func @random_stream(%k: tensor<4xi32>) {
  // expected-error @below {{'tg.random_uniform' op stream 4294967296 does not fit 32 bits}}
  %y = tg.random_uniform %k stream 4294967296 : tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @random_block_offsets(%k: tensor<4xi32>, %o: tensor<i32>) {
  // expected-error @below {{'tg.random_uniform' op has 1 offsets into a tensor of 2 dims, but its result is 'tensor<4x8xf32>'}}
  %y = tg.random_uniform %k stream 0 at (%o) of [8, 8] : (tensor<4xi32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @random_block_size(%k: tensor<4xi32>, %o: tensor<i32>) {
  // expected-error @below {{'tg.random_uniform' op dim 1 of 'tensor<4x8xf32>' is larger than the whole tensor's 6}}
  %y = tg.random_uniform %k stream 0 at (%o, %o) of [8, 6] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @random_block_of_nothing(%k: tensor<4xi32>) {
  // expected-error @below {{'tg.random_uniform' op needs both offsets and the shape of the larger tensor, or neither}}
  %y = "tg.random_uniform"(%k) {stream = 0 : i64, of = array<i64: 8>} : (tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @hook(%x: tensor<4xf32>) {
  // expected-error @below {{'tg.hook' op requires the same type for all operands and results}}
  %y = "tg.hook"(%x) {name = "x", order = 0} : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @count(%i: tensor<4xi32>) {
  // expected-error @below {{'tg.count' op result must be a scalar, found 'tensor<4xf32>'}}
  %y = tg.count %i ignore 0 : tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error @below {{operand 'input' has the type 'tensor<?xf32>', which has no extent in dim 0; give every extent as a number}}
  %y = tg.silu %x : tensor<?xf32>
  return
}

// -----

func.func @element(%x: tensor<4xf16>) {
  // expected-error @below {{operand 'input' has the type 'tensor<4xf16>', expected a tensor of f64, f32 or bf16; tg.convert changes element types}}
  %y = tg.silu %x : tensor<4xf16>
  return
}

// -----

func.func @gelu(%x: tensor<4xf32>) {
  // expected-error @below {{custom op 'tg.gelu' expected string or keyword containing one of the following enum values for attribute 'kind' [tanh, erf]}}
  %y = tg.gelu sigmoid %x : tensor<4xf32>
  return
}

// -----

func.func @dropout_rate(%x: tensor<4xf32>, %k: tensor<4xi32>) {
  // expected-error @below {{'tg.dropout' op rate must be at least 0 and below 1, found 1.000000e+00}}
  %y = tg.dropout %x, %k rate 1.0 stream 0 : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @dropout_stream(%x: tensor<4xf32>, %k: tensor<4xi32>) {
  // expected-error @below {{'tg.dropout' op stream 18446744073709551615 does not fit 32 bits}}
  %y = tg.dropout %x, %k rate 0.5 stream -1 : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @dropout_type(%x: tensor<4xf32>, %k: tensor<4xi32>) {
  // expected-error @below {{'tg.dropout' op changes the type from 'tensor<4xf32>' to 'tensor<5xf32>'}}
  %y = tg.dropout %x, %k rate 0.5 stream 0 : (tensor<4xf32>, tensor<4xi32>) -> tensor<5xf32>
  return
}

// -----

func.func @dropout_attention_rate(%q: tensor<2x3x2x4xf32>, %k: tensor<4xi32>) -> tensor<2x3x2x4xf32> {
  // expected-error @below {{'tg.dropout_attention' op rate must be at least 0 and below 1, found 1.500000e+00}}
  %y = tg.dropout_attention %q, %q, %q, %k scale 0.5 causal rate 1.5 stream 0
      : (tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<4xi32>) -> tensor<2x3x2x4xf32>
  return %y : tensor<2x3x2x4xf32>
}

// -----

func.func @layer_norm_weight(%x: tensor<4x8xf32>, %w: tensor<4xf32>) {
  // expected-error @below {{weight is 'tensor<4xf32>' but the input's last dim needs 'tensor<8xf32>'}}
  %y:3 = tg.layer_norm %x, %w eps 1.0e-5 : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @layer_norm_bias(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{bias is 'tensor<4xf32>' but the input's last dim needs 'tensor<8xf32>'}}
  %y:3 = tg.layer_norm %x, %w, %b eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @layer_norm_rank(%x: tensor<f32>) {
  // expected-error @below {{operand must have a last dim, found 'tensor<f32>'}}
  %y:3 = tg.layer_norm %x, %x eps 1.0e-5 : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @layer_norm_grad(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %r: tensor<4xf32>) {
  // expected-error @below {{rstd is 'tensor<8xf32>' but the input's rows needs 'tensor<4xf32>'}}
  %y:3 = tg.layer_norm_grad %x, %w, %r, %w, %x : (tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @rms_norm(%x: tensor<4x8xf32>, %w: tensor<4xf32>) {
  // expected-error @below {{weight is 'tensor<4xf32>' but the input's last dim needs 'tensor<8xf32>'}}
  %y:2 = tg.rms_norm %x, %w eps 1.0e-5 : (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  return
}

// -----

func.func @rms_norm_grad(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  // expected-error @below {{rrms is 'tensor<8xf32>' but the input's rows needs 'tensor<4xf32>'}}
  %y:2 = tg.rms_norm_grad %x, %w, %w, %x : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @attention_rank(%q: tensor<2x8x4xf32>) {
  // expected-error @below {{query and key must be batch x sequence x heads x size, found 'tensor<2x8x4xf32>' and 'tensor<2x8x4xf32>'}}
  %y:2 = tg.attention %q, %q, %q scale 1.0 : (tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> (tensor<2x8x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_heads(%q: tensor<2x8x4x4xf32>, %k: tensor<2x8x3x4xf32>) {
  // expected-error @below {{the 3 heads of key 'tensor<2x8x3x4xf32>' do not divide the 4 heads of query 'tensor<2x8x4x4xf32>'}}
  %y:2 = tg.attention %q, %k, %k scale 1.0 : (tensor<2x8x4x4xf32>, tensor<2x8x3x4xf32>, tensor<2x8x3x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_size(%q: tensor<2x8x4x4xf32>, %k: tensor<2x8x4x5xf32>) {
  // expected-error @below {{query 'tensor<2x8x4x4xf32>' and key 'tensor<2x8x4x5xf32>' must agree in batch, head size and element type}}
  %y:2 = tg.attention %q, %k, %k scale 1.0 : (tensor<2x8x4x4xf32>, tensor<2x8x4x5xf32>, tensor<2x8x4x5xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_value(%q: tensor<2x8x4x4xf32>, %k: tensor<2x9x4x4xf32>) {
  // expected-error @below {{value is 'tensor<2x9x4x4xf32>' but the key needs 'tensor<2x8x4x4xf32>'}}
  %y:2 = tg.attention %q, %q, %k scale 1.0 : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x9x4x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_causal(%q: tensor<2x8x4x4xf32>, %k: tensor<2x9x4x4xf32>) {
  // expected-error @below {{attention of query 'tensor<2x8x4x4xf32>' and key 'tensor<2x9x4x4xf32>' is causal, but the query has 8 positions and the key 9; give the position of the first query as an offset}}
  %y:2 = tg.attention %q, %k, %k scale 1.0 causal : (tensor<2x8x4x4xf32>, tensor<2x9x4x4xf32>, tensor<2x9x4x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_offset(%q: tensor<2x8x4x4xf32>, %k: tensor<2x9x4x4xf32>) {
  // expected-error @below {{has 8 queries from offset 2 on, but the key has 9 positions}}
  %y:2 = tg.attention %q, %k, %k scale 1.0 causal offset 2 : (tensor<2x8x4x4xf32>, tensor<2x9x4x4xf32>, tensor<2x9x4x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_window(%q: tensor<2x8x4x4xf32>) {
  // expected-error @below {{expected window of at least 1, found 0}}
  %y:2 = tg.attention %q, %q, %q scale 1.0 causal window 0 : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_not_causal(%q: tensor<2x8x4x4xf32>) {
  // expected-error @below {{only a causal mask has a window or an offset; write `causal` before it}}
  %y:2 = tg.attention %q, %q, %q scale 1.0 window 4 : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_softcap(%q: tensor<2x8x4x4xf32>) {
  // expected-error @below {{attribute 'softcap' failed to satisfy constraint: 64-bit float attribute a finite number above 0}}
  %y:2 = tg.attention %q, %q, %q scale 1.0 softcap 0.0 : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_documents(%q: tensor<2x8x4x4xf32>, %documents: tensor<2x9xi32>) {
  // expected-error @below {{has documents of type tensor<2x9xi32>, but needs a number for each key, tensor<2x8xi32>}}
  %y:2 = tg.attention %q, %q, %q, %documents scale 1.0 causal : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x9xi32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_across(%q: tensor<2x8x4x4xf32>, %k: tensor<2x9x4x4xf32>, %documents: tensor<2x9xi32>) {
  // expected-error @below {{has documents, but 8 queries and 9 keys; only a causal mask gives positions to queries, so make the mask causal}}
  %y:2 = tg.attention %q, %k, %k, %documents scale 1.0 : (tensor<2x8x4x4xf32>, tensor<2x9x4x4xf32>, tensor<2x9x4x4xf32>, tensor<2x9xi32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_positions(%q: tensor<2x8x4x4xf32>, %k: tensor<2x16x4x4xf32>, %first: tensor<i32>) {
  // expected-error @below {{takes positions from operands, but its mask also has the offset 3}}
  %y:2 = tg.attention %q, %k, %k at %first, %first scale 1.0 causal offset 3 : (tensor<2x8x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_documents_of_positions(%q: tensor<2x8x4x4xf32>, %k: tensor<2x16x4x4xf32>, %documents: tensor<2x12xi32>, %first: tensor<i32>) {
  // expected-error @below {{has documents of type tensor<2x12xi32>, but needs an i32 for each position, batch 2 x 16 at least}}
  %y:2 = tg.attention %q, %k, %k, %documents at %first, %first scale 1.0 causal : (tensor<2x8x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x12xi32>, tensor<i32>, tensor<i32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return
}

// -----

func.func @attention_grad(%q: tensor<2x8x4x4xf32>, %l: tensor<2x8x4xf32>) {
  // expected-error @below {{lse is 'tensor<2x8x4xf32>' but the query's rows needs 'tensor<2x4x8xf32>'}}
  %y:3 = tg.attention_grad %q, %q, %q, %q, %l, %q scale 1.0 : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>)
  return
}

// -----

func.func @rope_size(%q: tensor<2x8x4x5xf32>) {
  // expected-error @below {{'tg.rope' op operand must be batch x sequence x heads x even size, found 'tensor<2x8x4x5xf32>'}}
  %y = tg.rope %q theta 1.0e4 : tensor<2x8x4x5xf32>
  return
}

// -----

func.func @rope_theta(%q: tensor<2x8x4x4xf32>) {
  // expected-error @below {{'tg.rope' op theta must be positive, found 0.000000e+00}}
  %y = tg.rope %q theta 0.0 : tensor<2x8x4x4xf32>
  return
}

// -----

func.func @rope_dims(%q: tensor<2x8x4x4xf32>) {
  // expected-error @below {{'tg.rope' op turns 6 numbers of a head of 4: the number must be even and not larger}}
  %y = tg.rope %q theta 1.0e4 dims 6 : tensor<2x8x4x4xf32>
  return
}

// -----

func.func @rope_factor(%q: tensor<2x8x4x4xf32>) {
  // expected-error @below {{the factor of a rope scaling must be at least 1, found 5.000000e-01}}
  %y = tg.rope %q theta 1.0e4 linear 0.5 : tensor<2x8x4x4xf32>
  return
}

// -----

func.func @rope_bounds(%q: tensor<2x8x4x4xf32>) {
  // expected-error @below {{llama3 scaling needs 0 < low < high, found low 4.000000e+00 and high 1.000000e+00}}
  %y = tg.rope %q theta 1.0e4 llama3 8.0 low 4.0 high 1.0 positions 8192 : tensor<2x8x4x4xf32>
  return
}

// -----

func.func @rope_positions(%q: tensor<2x8x4x4xf32>) {
  // expected-error @below {{llama3 scaling needs positions of at least 1, found 0}}
  %y = tg.rope %q theta 1.0e4 llama3 8.0 low 1.0 high 4.0 positions 0 : tensor<2x8x4x4xf32>
  return
}

// -----

// expected-error @below {{expected linear or llama3}}
func.func private @rope_scaling() attributes {scaling = #tg.rope_scaling<yarn 8.0>}

// -----

func.func @cross_entropy(%x: tensor<4x8xf32>, %t: tensor<5xi32>) {
  // expected-error @below {{targets 'tensor<5xi32>' must have the shape of the logits' rows, 'tensor<4xf32>'}}
  %y:2 = tg.cross_entropy mean %x, %t ignore 0 : (tensor<4x8xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<4xf32>)
  return
}

// -----

func.func @cross_entropy_grad(%x: tensor<4x8xf32>, %t: tensor<4xi32>, %l: tensor<4xf32>) {
  // expected-error @below {{gradient is 'tensor<4xf32>' but a scalar loss needs 'tensor<f32>'}}
  %y = tg.cross_entropy_grad mean %x, %t, %l, %l ignore 0 : (tensor<4x8xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @update_name(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error @below {{'tg.update' op unknown optimizer 'magic' (optimizers: adam, adamw, lion, sgd, momentum, nesterov)}}
  %y = tg.update "magic" %p, %p, %lr {} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_gradient(%p: tensor<4xf32>, %g: tensor<5xf32>, %lr: tensor<f32>) {
  // expected-error @below {{'tg.update' op the gradient is 'tensor<5xf32>' but the parameter, 'tensor<4xf32>', needs 'tensor<4xf32>'}}
  %y = tg.update "sgd" %p, %g, %lr {weight_decay = 0.0} : (tensor<4xf32>, tensor<5xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_lr(%p: tensor<4xf32>) {
  // expected-error @below {{'tg.update' op lr is 'tensor<4xf32>' but the parameter, 'tensor<4xf32>', needs 'tensor<f32>'}}
  %y = tg.update "sgd" %p, %p, %p {weight_decay = 0.0} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_states(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error @below {{'tg.update' op momentum has 1 states (momentum_buffer), found 0}}
  %y = tg.update "momentum" %p, %p, %lr {momentum = 0.9, weight_decay = 0.0} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_state(%p: tensor<4xf32>, %m: tensor<5xf32>, %lr: tensor<f32>) {
  // expected-error @below {{'tg.update' op the state momentum_buffer is 'tensor<5xf32>' but the parameter, 'tensor<4xf32>', needs 'tensor<4xf32>'}}
  %y:2 = tg.update "momentum" %p, %p, %lr states %m {momentum = 0.9, weight_decay = 0.0} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

func.func @update_without_step(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error @below {{'tg.update' op adam reads the step}}
  %y:3 = tg.update "adam" %p, %p, %lr states %p, %p {beta1 = 0.9, beta2 = 0.99, eps = 1.0e-8, weight_decay = 0.0} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @update_with_step(%p: tensor<4xf32>, %lr: tensor<f32>, %t: tensor<i32>) {
  // expected-error @below {{'tg.update' op sgd does not read the step}}
  %y = tg.update "sgd" %p, %p, %lr, %t {weight_decay = 0.0} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_step(%p: tensor<4xf32>, %lr: tensor<f32>, %t: tensor<1xi32>) {
  // expected-error @below {{'tg.update' op the step must be a scalar, found 'tensor<1xi32>'}}
  %y:3 = tg.update "adam" %p, %p, %lr, %t states %p, %p {beta1 = 0.9, beta2 = 0.99, eps = 1.0e-8, weight_decay = 0.0} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @update_hyperparameter(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error @below {{'tg.update' op sgd has no hyperparameter 'momentum' (it has weight_decay=0)}}
  %y = tg.update "sgd" %p, %p, %lr {momentum = 0.9, weight_decay = 0.0} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_missing(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error @below {{'tg.update' op sgd needs a number for weight_decay, found {}}}
  %y = tg.update "sgd" %p, %p, %lr {} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @update_range(%p: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error @below {{'tg.update' op weight_decay of sgd must be at least 0, found -1.000000e+00}}
  %y = tg.update "sgd" %p, %p, %lr {weight_decay = -1.0} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @quantize_block(%p: tensor<4x6xf32>) {
  // expected-error @below {{blocks of 4 do not divide the rows of 'tensor<4x6xf32>'}}
  %c, %s = tg.quantize %p at %p block 4 : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xi8>, tensor<4x1xf32>)
  return
}

// -----

func.func @quantize_scalar(%p: tensor<f32>) {
  // expected-error @below {{blocks of 1 do not divide the rows of 'tensor<f32>'}}
  %c, %s = tg.quantize %p at %p block 1 : (tensor<f32>, tensor<f32>) -> (tensor<i8>, tensor<f32>)
  return
}

// -----

func.func @dequantize_scales(%c: tensor<4x6xi8>, %s: tensor<4x4xf32>) {
  // expected-error @below {{scales 'tensor<4x4xf32>' must have one number for each block of the rows of 'tensor<4x6xi8>'}}
  %x = tg.dequantize %c, %s : (tensor<4x6xi8>, tensor<4x4xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @global_norm_empty() {
  // expected-error @below {{'tg.global_norm' op needs at least one operand}}
  %y = tg.global_norm : () -> tensor<f32>
  return
}

// -----

func.func @global_norm_result(%p: tensor<4xf32>) {
  // expected-error @below {{'tg.global_norm' op result must be a scalar, found 'tensor<4xf32>'}}
  %y = tg.global_norm %p : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// expected-error @below {{argument #0: 'tg.param' must be #tg.param<...>, found "w"}}
func.func @param(%p: tensor<4xf32> {tg.param = "w"}) {
  return
}

// -----

// expected-error @below {{argument #0: 'tg.state' must be #tg.state<...>, found 1 : i64}}
func.func @state(%p: tensor<4xf32> {tg.state = 1}) {
  return
}

// -----

// expected-error @below {{argument #0: 'tg.role' must be #tg.role<...>, found 1 : i64}}
func.func @role(%p: tensor<4xf32> {tg.role = 1}) {
  return
}

// -----

// expected-error @below {{argument #0: unknown attribute 'tg.parameter'; expected tg.param, tg.state, tg.input, tg.role, tg.grad or tg.seed}}
func.func @unknown(%p: tensor<4xf32> {tg.parameter = "w"}) {
  return
}

// -----

// expected-error @below {{unknown initializer 'gaussian'; expected zeros, ones, constant, normal or uniform}}
func.func @init_kind(%p: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<gaussian>>}) {
  return
}

// -----

// expected-error @below {{normal initializer has the negative standard deviation -1.000000e+00}}
func.func @init_normal(%p: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, -1.0>>}) {
  return
}

// -----

// expected-error @below {{uniform initializer has the empty range 1.000000e+00 to 1.000000e+00}}
func.func @init_uniform(%p: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<uniform, 1.0, 1.0>>}) {
  return
}

// -----

// expected-error @below {{initializer has the negative layer count -1}}
func.func @init_layers(%p: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 1.0 layers -1>>}) {
  return
}

// -----

// expected-error @below {{expected unit, copy_of, frozen, transposed or fused, found 'trainable'}}
func.func @param_flag(%p: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>, trainable>}) {
  return
}

// -----

// expected-error @below {{expected of, kind, transposed or fused, found 'frozen'}}
func.func @state_flag(%p: tensor<4xf32> {tg.state = #tg.state<"w", #tg.init<zeros>, frozen>}) {
  return
}

// -----

// expected-error @below {{state 'w' has no kind; expected kind = moment, master, accumulator, running_statistic, cache, saved or message}}
func.func @state_without_kind(%p: tensor<4xf32> {tg.state = #tg.state<"w", #tg.init<zeros>>}) {
  return
}

// -----

// expected-error @below {{unknown kind 'momentum'; expected moment, master, accumulator, running_statistic, cache, saved or message}}
func.func @unknown_kind(%p: tensor<4xf32> {tg.state = #tg.state<"w", #tg.init<zeros>, of = "w", kind = momentum>}) {
  return
}

// -----

// expected-error @below {{state "w" has the kind gradient; expected moment, master, accumulator, running_statistic, cache, saved or message}}
func.func @kind_of_no_state(%p: tensor<4xf32> {tg.state = #tg.state<"w", #tg.init<zeros>, of = "w", kind = gradient>}) {
  return
}

// -----

// expected-error @below {{state "m" is a moment of no parameter; name the parameter by of = "..."}}
func.func @moment_of_nothing(%p: tensor<4xf32> {tg.state = #tg.state<"m", #tg.init<zeros>, kind = moment>}) {
  return
}

// -----

// expected-error @below {{state "m" is a running_statistic of the parameter "w"; a running_statistic belongs to no parameter; drop 'of'}}
func.func @statistic_of_parameter(%p: tensor<4xf32> {tg.state = #tg.state<"m", #tg.init<zeros>, of = "w", kind = running_statistic>}) {
  return
}

// -----

// expected-error @below {{state "k" is a cache of the parameter "w"; a cache belongs to no parameter; drop 'of'}}
func.func @cache_of_parameter(%p: tensor<4xf32> {tg.state = #tg.state<"k", #tg.init<zeros>, of = "w", kind = cache>}) {
  return
}

// -----

// expected-error @below {{result #0: 'tg.role' must be #tg.role<...>, found 1 : i64}}
func.func @result(%p: tensor<4xf32>) -> (tensor<4xf32> {tg.role = 1}) {
  return %p : tensor<4xf32>
}

// -----

// expected-error @below {{result #0: unknown attribute 'tg.update'; expected tg.role, tg.output, tg.updates or tg.grad_of}}
func.func @result_unknown(%p: tensor<4xf32>) -> (tensor<4xf32> {tg.update = "w"}) {
  return %p : tensor<4xf32>
}

// -----

func.func @elsewhere(%p: tensor<4xf32>) {
  // expected-error @below {{'tg.silu' op has '"tg.role"', which belongs on a function's argument or result}}
  %0 = tg.silu %p {tg.role = #tg.role<loss>} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{"bd,df" is not of the form "ab,bc->ac"}}
module attributes {test.einsum = #tg.contraction<"bd,df">} {}

// -----

func.func @top_k(%x: tensor<4x8xf32>) {
  // expected-error @below {{k must be at least 1 and at most the lanes of 'tensor<4x8xf32>', found 9}}
  %0:2 = tg.top_k %x k 9 : tensor<4x8xf32> -> (tensor<4x9xf32>, tensor<4x9xi32>)
  return
}

// -----

func.func @choices_of_rank_2(%x: tensor<4x8xi32>) {
  // expected-error @below {{choices must be rows x tokens x choices of a token, found 'tensor<4x8xi32>'}}
  %0:2 = tg.expert_slots %x capacity 2 of 4 : tensor<4x8xi32> -> (tensor<4x8xi32>, tensor<4x4x2xi32>)
  return
}

// -----

func.func @capacity(%x: tensor<2x6x2xi32>) {
  // expected-error @below {{capacity must be at least 1 and at most the tokens of a row, 6, found 7}}
  %0:2 = tg.expert_slots %x capacity 7 of 4 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<4x2x7xi32>)
  return
}

// -----

func.func @too_many_slots(%x: tensor<2x6x2xi32>) {
  // expected-error @below {{experts must be at least 1, and their slots of all rows at most 2147483647, found 1073741824 experts with 2 slots for each row of 'tensor<2x6x2xi32>'}}
  %0:2 = tg.expert_slots %x capacity 2 of 1073741824 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<1073741824x2x2xi32>)
  return
}

// -----

func.func @slots_of_others(%x: tensor<2x6x4xf32>, %s: tensor<2x6x2xi32>, %c: tensor<8x3x2xi32>) {
  // expected-error @below {{slots 'tensor<2x6x2xi32>' (rows x tokens x choices) and choices 'tensor<8x3x2xi32>' (experts x rows x slots) do not fit together as results of one tg.expert_slots}}
  %0 = tg.dispatch %x, %s, %c : (tensor<2x6x4xf32>, tensor<2x6x2xi32>, tensor<8x3x2xi32>) -> tensor<8x2x2x4xf32>
  return
}

// -----

func.func @dispatch(%x: tensor<2x5x4xf32>, %s: tensor<2x6x2xi32>, %c: tensor<8x2x2xi32>) {
  // expected-error @below {{operand must be 2 rows x 6 tokens x width, as the slots are, found 'tensor<2x5x4xf32>'}}
  %0 = tg.dispatch %x, %s, %c : (tensor<2x5x4xf32>, tensor<2x6x2xi32>, tensor<8x2x2xi32>) -> tensor<8x2x2x4xf32>
  return
}

// -----

func.func @collect(%x: tensor<8x2x3x4xf32>, %s: tensor<2x6x2xi32>, %c: tensor<8x2x2xi32>) {
  // expected-error @below {{operand must be 8 experts x 2 rows x 2 slots x width, as the choices are, found 'tensor<8x2x3x4xf32>'}}
  %0 = tg.collect %x, %s, %c : (tensor<8x2x3x4xf32>, tensor<2x6x2xi32>, tensor<8x2x2xi32>) -> tensor<2x6x2x4xf32>
  return
}

// -----

func.func @load_balance(%p: tensor<2x6x8xf32>, %c: tensor<2x5x2xi32>) {
  // expected-error @below {{choices 'tensor<2x5x2xi32>' do not fit probabilities 'tensor<2x6x8xf32>': only the last dim may differ, and is the same in all layers}}
  %0 = tg.load_balance %p choices %c : (tensor<2x6x8xf32>, tensor<2x5x2xi32>) -> tensor<f32>
  return
}

// -----

func.func @layers_differ(%p: tensor<2x6x8xf32>, %q: tensor<2x6x4xf32>) {
  // expected-error @below {{layers must have one type, found 'tensor<2x6x8xf32>' and 'tensor<2x6x4xf32>'}}
  %0 = tg.router_z %p, %q : (tensor<2x6x8xf32>, tensor<2x6x4xf32>) -> tensor<f32>
  return
}

// -----

func.func @no_layer() {
  // expected-error @below {{needs the operands of at least one layer}}
  %0 = tg.router_z : () -> tensor<f32>
  return
}

// -----

func.func @weight_of_ignored(%i: tensor<4xi32>) {
  // expected-error @below {{'tg.count' op an ignored target has a weight of at least 0 and below 1, found 2.0}}
  %y = tg.count %i ignore 0 as 2.0 : tensor<4xi32> -> tensor<f32>
  return
}

// -----

func.func @present_of_others(%x: tensor<2x6x2xi32>, %p: tensor<2x5xi32>) {
  // expected-error @below {{'present' must have a number for each token of 'tensor<2x6x2xi32>', found 'tensor<2x5xi32>'}}
  %0:2 = tg.expert_slots %x present %p capacity 2 of 4 : (tensor<2x6x2xi32>, tensor<2x5xi32>) -> (tensor<2x6x2xi32>, tensor<4x2x2xi32>)
  return
}

// -----

func.func @bound_of_whom(%x: tensor<2x6x2xi32>) {
  // expected-error @below {{'bound' must be at least 1, and needs 'present' to tell documents apart, found 1 without it}}
  %0:2 = tg.expert_slots %x capacity 2 of 4 bound 1 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<4x2x2xi32>)
  return
}

// -----

func.func @present_of_other_rows(%p: tensor<2x6x8xf32>, %r: tensor<2x5xi32>) {
  // expected-error @below {{'present' must have a number for each row of 'tensor<2x6x8xf32>', found 'tensor<2x5xi32>'}}
  %0 = tg.router_z %p present %r : (tensor<2x6x8xf32>, tensor<2x5xi32>) -> tensor<f32>
  return
}

// A tied language model with dropout, for tests of whole steps.
func.func @model(%t: tensor<4x8xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}, %y: tensor<4x8xi32> {tg.input = "targets", tg.role = #tg.role<targets>}, %key: tensor<4xi32> {tg.input="key", tg.role = #tg.role<key>},
   %e: tensor<16x6xf32> {tg.param = #tg.param<"e", #tg.init<normal, 0.0, 0.02>>}, %w: tensor<6x12xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.02>>}, %b: tensor<12xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>}, %v: tensor<12x6xf32> {tg.param = #tg.param<"v", #tg.init<normal, 0.0, 0.02>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4x8x16xf32> {tg.role = #tg.role<logits>}) {
  %h = tg.gather %e, %t : (tensor<16x6xf32>, tensor<4x8xi32>) -> tensor<4x8x6xf32>
  %d = tg.dropout %h, %key rate 0.1 stream 0 : (tensor<4x8x6xf32>, tensor<4xi32>) -> tensor<4x8x6xf32>
  %f = tg.reshape %d : tensor<4x8x6xf32> -> tensor<32x6xf32>
  %m = tg.contract "bd,df->bf" %f, %w : (tensor<32x6xf32>, tensor<6x12xf32>) -> tensor<32x12xf32>
  %bb = tg.broadcast %b dims [1] : tensor<12xf32> -> tensor<32x12xf32>
  %a = arith.addf %m, %bb : tensor<32x12xf32>
  %z = arith.constant dense<0.0> : tensor<32x12xf32>
  %r = arith.maximumf %a, %z : tensor<32x12xf32>
  %o = tg.contract "bd,df->bf" %r, %v : (tensor<32x12xf32>, tensor<12x6xf32>) -> tensor<32x6xf32>
  %u = tg.reshape %o : tensor<32x6xf32> -> tensor<4x8x6xf32>
  %l = tg.contract "bsd,vd->bsv" %u, %e : (tensor<4x8x6xf32>, tensor<16x6xf32>) -> tensor<4x8x16xf32>
  %loss, %lse = tg.cross_entropy mean %l, %y ignore -100 : (tensor<4x8x16xf32>, tensor<4x8xi32>) -> (tensor<f32>, tensor<4x8xf32>)
  return %loss, %l : tensor<f32>, tensor<4x8x16xf32>
}

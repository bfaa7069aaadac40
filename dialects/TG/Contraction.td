//===- Contraction.td - an einsum of two tensors ---------------*- tablegen -*-===//
#ifndef BRAID_TG_CONTRACTION
#define BRAID_TG_CONTRACTION

include "dialects/TG/TGDialect.td"

def TG_ContractionAttr : TG_Attr<"Contraction", "contraction"> {
  let summary = "The dims of two tensors that are multiplied and summed, as an einsum";
  let description = [{
    `#tg.contraction<"bsd,df->bsf">` has a letter for each dim of the left operand, the right operand and the result. A
    letter in all three places is a batch dim. A letter only in both operands is contracted (k). A letter in the result
    and in one operand is free: m in the left operand, n in the right one. A letter appears in at least two of the three
    places, and at most once in each. Ops write only the einsum: `tg.contract "bsd,df->bsf" %x, %w`.
  }];
  let parameters = (ins StringRefParameter<"letters of the left operand">:$lhs,
                        StringRefParameter<"letters of the right operand">:$rhs,
                        StringRefParameter<"letters of the result">:$result);
  let builders = [AttrBuilder<(ins "const ::llvm::Twine &":$spec)>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The einsum: `bsd,df->bsf`.
    std::string getSpec() const { return (getLhs() + "," + getRhs() + "->" + getResult()).str(); }
    ::llvm::StringRef getOperand(unsigned number) const { return number == 0 ? getLhs() : getRhs(); }
    /// The letters of a role, in the order of the result; those of k are in the order of the left operand.
    std::string getBatch() const { return lettersIn(getResult(), true, true, true); }
    std::string getM() const { return lettersIn(getResult(), true, false, true); }
    std::string getN() const { return lettersIn(getResult(), false, true, true); }
    std::string getK() const { return lettersIn(getLhs(), true, true, false); }
    bool isContracted(char letter) const { return !getResult().contains(letter); }
    /// The dims of an operand that are contracted.
    ::llvm::SmallVector<int64_t> getContractedDims(unsigned operand) const;
    /// Number of products that each element of the result adds up.
    int64_t getContractedSize(::llvm::ArrayRef<int64_t> lhsShape) const;
    /// Returns the shape of the result, or an error that names the mismatch of the operands.
    ::llvm::Expected<::llvm::SmallVector<int64_t>> getResultShape(::mlir::RankedTensorType lhs,
                                                                  ::mlir::RankedTensorType rhs) const;
    ContractionAttr withOperands(::llvm::StringRef lhs, ::llvm::StringRef rhs) const {
      return get(getContext(), lhs, rhs, getResult());
    }
    ContractionAttr withResult(::llvm::StringRef result) const {
      return get(getContext(), getLhs(), getRhs(), result);
    }

  private:
    std::string lettersIn(::llvm::StringRef letters, bool inLhs, bool inRhs, bool inResult) const;

  public:
  }];
}

#endif // BRAID_TG_CONTRACTION

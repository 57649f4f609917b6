// Annotations: their table and their parsing.
#include "ParserImpl.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;

namespace {
struct AnnotationInfo {
  llvm::StringLiteral name;
  AnnotationTarget target;
  /// @no_tma stands before a kernel or a load.
  AnnotationTarget secondTarget;
};
} // namespace

static constexpr AnnotationInfo annotationTable[] = {
    {"maxregs", AnnotationTarget::Kernel, AnnotationTarget::Kernel},
    {"no_tma", AnnotationTarget::Kernel, AnnotationTarget::Let},
    {"warps", AnnotationTarget::Parallel, AnnotationTarget::Parallel},
    {"specialize", AnnotationTarget::Parallel, AnnotationTarget::Parallel},
    {"cluster", AnnotationTarget::Parallel, AnnotationTarget::Parallel},
    {"persistent", AnnotationTarget::Parallel, AnnotationTarget::Parallel},
    {"raster", AnnotationTarget::Parallel, AnnotationTarget::Parallel},
    {"stages", AnnotationTarget::For, AnnotationTarget::For},
    {"unroll", AnnotationTarget::For, AnnotationTarget::For},
    {"evict", AnnotationTarget::Let, AnnotationTarget::Let},
};

static llvm::StringRef describe(AnnotationTarget target) {
  switch (target) {
  case AnnotationTarget::Kernel:
    return "a `kernel`";
  case AnnotationTarget::Parallel:
    return "a `parallel`";
  case AnnotationTarget::For:
    return "a `for`";
  case AnnotationTarget::Let:
    return "the `let` of a load";
  case AnnotationTarget::Other:
    return "something else";
  }
  llvm_unreachable("not a target");
}

static const AnnotationInfo *findAnnotation(llvm::StringRef name) {
  for (const AnnotationInfo &info : annotationTable)
    if (info.name == name)
      return &info;
  return nullptr;
}

/// The annotation that `name` was probably meant to be, or all there are.
static std::string suggestAnnotation(llvm::StringRef name) {
  std::string all;
  for (const AnnotationInfo &info : annotationTable) {
    if (name.edit_distance_insensitive(info.name) <= 2)
      return ("did you mean `@" + info.name + "`?").str();
    all += (all.empty() ? "`@" : ", `@") + info.name.str() + "`";
  }
  return "the annotations are " + all;
}

llvm::MutableArrayRef<ast::Annotation> Parser::parseAnnotations() {
  llvm::SmallVector<ast::Annotation> annotations;
  while (at(TokenKind::At))
    annotations.push_back(parseAnnotation());
  return copy(annotations);
}

ast::Annotation Parser::parseAnnotation() {
  unsigned errorsBefore = numErrors;
  ast::Annotation annotation;
  SourceRange begin = consume();
  annotation.name = parseIdentifier("the name of an annotation");
  llvm::SaveAndRestore<bool> header(newlineEnds, false);
  if (at(TokenKind::LeftParen) && !token().startsLine) {
    annotation.hasParentheses = true;
    annotation.arguments = parseArguments(/*allowStrings=*/false);
  }
  bool isCondition = at(TokenKind::If) && (!token().startsLine || peek().isIdentifier("arch"));
  if (isCondition)
    parseAnnotationCondition(annotation);
  annotation.range = rangeFrom(begin);
  while (numErrors != errorsBefore && !atStatementEnd())
    consume();
  return annotation;
}

/// `if arch >= 90`.
void Parser::parseAnnotationCondition(ast::Annotation &annotation) {
  consume();
  if (!atWord("arch"))
    return reportExpected("`arch`");
  consume();
  switch (token().kind) {
  case TokenKind::EqualEqual:
    annotation.archOp = ast::RelationalOp::Equal;
    break;
  case TokenKind::NotEqual:
    annotation.archOp = ast::RelationalOp::NotEqual;
    break;
  case TokenKind::Less:
    annotation.archOp = ast::RelationalOp::Less;
    break;
  case TokenKind::LessEqual:
    annotation.archOp = ast::RelationalOp::LessEqual;
    break;
  case TokenKind::Greater:
    annotation.archOp = ast::RelationalOp::Greater;
    break;
  case TokenKind::GreaterEqual:
    annotation.archOp = ast::RelationalOp::GreaterEqual;
    break;
  default:
    return reportExpected("a comparison such as `>=`");
  }
  consume();
  if (!at(TokenKind::Integer))
    return reportExpected("an architecture number such as `90`");
  if (auto *literal = llvm::dyn_cast<ast::IntegerLiteral>(parseInteger()))
    annotation.arch = literal->value;
  annotation.isConditional = true;
}

void Parser::checkAnnotations(llvm::ArrayRef<ast::Annotation> annotations, AnnotationTarget target,
                              llvm::StringRef what) {
  for (const ast::Annotation &annotation : annotations) {
    if (!annotation.name)
      continue;
    const AnnotationInfo *info = findAnnotation(annotation.name.name);
    if (!info) {
      report(annotation.name.range, diag::err_unknown_annotation)
          << annotation.name.name << suggestAnnotation(annotation.name.name);
      continue;
    }
    if (info->target == target || info->secondTarget == target)
      continue;
    std::string legal = describe(info->target).str();
    if (info->secondTarget != info->target)
      legal += " or " + describe(info->secondTarget).str();
    report(annotation.range, diag::err_annotation_target) << annotation.name.name << what << legal;
  }
}

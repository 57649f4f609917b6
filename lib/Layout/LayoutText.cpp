// The text form of layouts: `[[l1:8, r1:2, w0:4], [r0:2, l0:4, r2:32]] rep [..] part(add) [..]`.
#include "tilec/Layout/Layout.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace tilec;

static constexpr llvm::StringLiteral combineKindNames[] = {"add", "mul", "max", "min", "and", "or", "xor"};

llvm::StringRef tilec::combineKindName(CombineKind kind) { return combineKindNames[static_cast<unsigned>(kind)]; }

std::optional<CombineKind> tilec::combineKindFromName(llvm::StringRef name) {
  for (unsigned i = 0; i < std::size(combineKindNames); ++i)
    if (combineKindNames[i] == name)
      return static_cast<CombineKind>(i);
  return std::nullopt;
}

//===---------------------------------------------------------------------------------------------------------------===
// Printing
//===---------------------------------------------------------------------------------------------------------------===

void Layout::print(llvm::raw_ostream &os) const {
  std::array<llvm::SmallVector<Digit, 8>, numOwners> byOwner;
  for (unsigned i = 0; i < numOwners; ++i)
    byOwner[i] = digitsOf(static_cast<Owner>(i));
  auto printDigit = [&](const Digit &digit) {
    const auto &siblings = byOwner[static_cast<unsigned>(digit.owner)];
    const auto *sibling = std::find_if(siblings.begin(), siblings.end(),
                                       [&](const Digit &other) { return other.weight == digit.weight; });
    os << ownerLetter(digit.owner) << (sibling - siblings.begin()) << ':' << digit.radix;
  };
  auto printList = [&](llvm::ArrayRef<Digit> digits) {
    os << '[';
    llvm::interleave(digits, os, printDigit, ", ");
    os << ']';
  };
  os << '[';
  llvm::interleave(dims, os, printList, ", ");
  os << ']';
  if (!repDigits.empty()) {
    os << " rep ";
    printList(repDigits);
  }
  for (unsigned i = 0; i < partDigits.size();) {
    CombineKind kind = partDigits[i].kind;
    llvm::SmallVector<Digit, 2> digits;
    for (; i < partDigits.size() && partDigits[i].kind == kind; ++i)
      digits.push_back(partDigits[i].digit);
    os << " part(" << combineKindName(kind) << ") ";
    printList(digits);
  }
}

std::string Layout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::raw_ostream &tilec::operator<<(llvm::raw_ostream &os, const Layout &layout) {
  layout.print(os);
  return os;
}

//===---------------------------------------------------------------------------------------------------------------===
// Parsing
//===---------------------------------------------------------------------------------------------------------------===

namespace {
/// A recursive-descent parser. Every method returns false after the first error.
class Parser {
public:
  Parser(llvm::StringRef text) : all(text), rest(text) {}

  bool parse(LayoutSpec &spec);
  const std::string &message() const { return error; }

private:
  bool fail(const llvm::Twine &what) {
    error = (what + " at column " + llvm::Twine(all.size() - rest.size() + 1)).str();
    return false;
  }
  void skipSpace() { rest = rest.ltrim(); }
  bool accept(llvm::StringRef token) {
    skipSpace();
    return rest.consume_front(token);
  }
  bool expect(llvm::StringRef token) { return accept(token) || fail("expected `" + token + "`"); }
  bool number(uint32_t &value) {
    llvm::StringRef digits = rest.take_while(llvm::isDigit);
    if (digits.empty())
      return fail("expected a number");
    if (digits.getAsInteger(10, value))
      return fail("the number is too large");
    rest = rest.drop_front(digits.size());
    return true;
  }
  bool digit(DigitSpec &spec);
  template <typename Element> bool list(Element element);
  bool partial(LayoutSpec &spec);

  llvm::StringRef all, rest;
  std::string error;
};
} // namespace

bool Parser::digit(DigitSpec &spec) {
  skipSpace();
  for (unsigned i = 0; i < numOwners; ++i) {
    spec.owner = static_cast<Owner>(i);
    if (!rest.empty() && rest.front() == ownerLetter(spec.owner)) {
      rest = rest.drop_front();
      return number(spec.position) && expect(":") && number(spec.radix);
    }
  }
  return fail("expected a digit such as `r0:2`, whose owner is one of `r`, `l`, `w`, `g`, `c`, `b`");
}

template <typename Element> bool Parser::list(Element element) {
  if (!expect("["))
    return false;
  if (accept("]"))
    return true;
  do {
    if (!element())
      return false;
  } while (accept(","));
  return expect("]");
}

bool Parser::partial(LayoutSpec &spec) {
  if (!expect("("))
    return false;
  skipSpace();
  llvm::StringRef name = rest.take_while(llvm::isAlpha);
  std::optional<CombineKind> kind = combineKindFromName(name);
  if (!kind)
    return fail("expected one of `add`, `mul`, `max`, `min`, `and`, `or`, `xor`");
  rest = rest.drop_front(name.size());
  return expect(")") && list([&] {
           spec.partial.push_back({DigitSpec(), *kind});
           return digit(spec.partial.back().digit);
         });
}

bool Parser::parse(LayoutSpec &spec) {
  bool dims = list([&] {
    auto &dim = spec.dims.emplace_back();
    return list([&] { return digit(dim.emplace_back()); });
  });
  if (!dims)
    return false;
  if (accept("rep") && !list([&] { return digit(spec.replicated.emplace_back()); }))
    return false;
  while (accept("part"))
    if (!partial(spec))
      return false;
  skipSpace();
  return rest.empty() || fail("unexpected text");
}

std::optional<Layout> Layout::parse(llvm::StringRef text, std::string *error) {
  LayoutSpec spec;
  Parser parser(text);
  if (parser.parse(spec))
    return get(spec, error);
  if (error)
    *error = parser.message();
  return std::nullopt;
}

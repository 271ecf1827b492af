import type { Callable, Definition, Exported, Member, Param, TypeNode, TypeParam } from "./deno_doc.ts";

/** The longest signature that stays on one line. */
const WIDTH = 88;

/** Returns a type as TypeScript. */
export function typeText(type: TypeNode | undefined): string {
  if (type === undefined) return "unknown";
  const { kind, repr, value } = type;
  switch (kind) {
    case "typeRef":
      return value.typeName + argumentsText(value.typeParams);
    case "literal":
      return literalText(value);
    case "union":
      return value.map(typeText).join(" | ");
    case "intersection":
      return value.map(typeText).join(" & ");
    case "array":
      return `${typeText(value)}[]`;
    case "tuple":
      return `[${value.map(typeText).join(", ")}]`;
    case "typeOperator":
      return `${value.operator} ${typeText(value.tsType)}`;
    case "parenthesized":
      return `(${typeText(value)})`;
    case "rest":
      return `...${typeText(value)}`;
    case "optional":
      return `${typeText(value)}?`;
    case "typeQuery":
      return `typeof ${value.typeName ?? repr ?? value}`;
    case "indexedAccess":
      return `${typeText(value.objType)}[${typeText(value.indexType)}]`;
    case "fnOrConstructor":
      return `${value.constructor ? "new " : ""}${typeParamsText(value.typeParams)}(${paramsText(value.params)}) => ${
        typeText(value.tsType)
      }`;
    case "typeLiteral":
      return literalTypeText(value);
    case "conditional":
      return `${typeText(value.checkType)} extends ${typeText(value.extendsType)} ? ${typeText(value.trueType)} : ${
        typeText(value.falseType)
      }`;
    case "mapped":
      return mappedText(value);
    case "infer":
      return `infer ${typeParamText(value.typeParam)}`;
    case "importType":
      return `import(${JSON.stringify(value.specifier)}).${value.qualifier}${argumentsText(value.typeParams)}`;
    case "typePredicate": {
      const subject = `${value.asserts ? "asserts " : ""}${value.param.type === "this" ? "this" : value.param.name}`;
      return value.type ? `${subject} is ${typeText(value.type)}` : subject;
    }
    case "keyword":
    case "this":
      return repr ?? String(value);
    default:
      throw new Error(`a type is ${kind}: teach .ci/site/signature.ts its text`);
  }
}

// deno-lint-ignore no-explicit-any -- as deno doc has it
function literalText(value: any): string {
  if (value.kind === "string") return JSON.stringify(value.string);
  if (value.kind === "bigInt") return `${value.string}n`;
  if (value.kind !== "template") return String(value[value.kind]);
  // deno-lint-ignore no-explicit-any -- as deno doc has it
  const parts = value.tsTypes.map((part: any) => part.value?.string ?? `\${${typeText(part)}}`);
  return `\`${parts.join("")}\``;
}

function literalTypeText({ properties = [], methods = [], callSignatures = [], indexSignatures = [] }: {
  readonly properties?: readonly Member[];
  readonly methods?: readonly Member[];
  readonly callSignatures?: readonly (Callable & { readonly tsType?: TypeNode })[];
  readonly indexSignatures?: readonly { readonly params: readonly Param[]; readonly tsType?: TypeNode }[];
}): string {
  const members = [
    ...callSignatures.map((one) => `(${paramsText(one.params)}): ${typeText(one.tsType)}`),
    ...indexSignatures.map(({ params, tsType }) => `[${paramsText(params)}]: ${typeText(tsType)}`),
    ...properties.map(propertyText),
    ...methods.map((one) => methodText(one.name, one as Member & Callable)),
  ];
  return members.length === 0 ? "{}" : `{ ${members.join("; ")} }`;
}

// deno-lint-ignore no-explicit-any -- as deno doc has it
function mappedText({ readonly, typeParam, nameType, optional, tsType }: any): string {
  const sign = (value: true | "+" | "-" | undefined, word: string): string => {
    return value === undefined ? "" : `${value === true ? "" : value}${word}`;
  };
  const name = nameType ? ` as ${typeText(nameType)}` : "";
  const key = `[${typeParam.name} in ${typeText(typeParam.constraint)}${name}]`;
  const before = sign(readonly, "readonly ");
  return `{ ${before}${key}${sign(optional, "?")}: ${typeText(tsType)} }`;
}

function argumentsText(types: readonly TypeNode[] | undefined): string {
  return types === undefined || types.length === 0 ? "" : `<${types.map(typeText).join(", ")}>`;
}

function typeParamsText(params: readonly TypeParam[] | undefined): string {
  if (params === undefined || params.length === 0) return "";
  return `<${params.map(typeParamText).join(", ")}>`;
}

function typeParamText(param: TypeParam): string {
  const constraint = param.constraint ? ` extends ${typeText(param.constraint)}` : "";
  return `${param.name}${constraint}${param.default ? ` = ${typeText(param.default)}` : ""}`;
}

function paramText(param: Param): string {
  if (param.kind === "rest") return `...${param.arg!.name}: ${typeText(param.tsType)}`;
  const { kind, name, optional, tsType } = param.left ?? param;
  // Parts of an object or array that has no name.
  const shown = name ?? (kind === "object" ? "options" : "values");
  return `${shown}${optional || param.kind === "assign" ? "?" : ""}: ${typeText(tsType)}`;
}

function paramsText(params: readonly Param[] = []): string {
  return params.map(paramText).join(", ");
}

/** Returns `name(…): type`, with a line for each parameter if that is long. */
export function methodText(name: string, { params, returnType, typeParams }: Callable): string {
  const head = `${name}${typeParamsText(typeParams)}`;
  const end = returnType === undefined ? "" : `: ${typeText(returnType)}`;
  const line = `${head}(${paramsText(params)})${end}`;
  if (line.length <= WIDTH || params.length === 0) return line;
  return `${head}(\n${params.map((param) => `  ${paramText(param)},\n`).join("")})${end}`;
}

/** Returns a property as a class or an interface declares it. */
export function propertyText({ name, computed, optional, readonly, isStatic, tsType }: Member): string {
  const key = computed ? `[${name}]` : name;
  return `${isStatic ? "static " : ""}${readonly ? "readonly " : ""}${key}${optional ? "?" : ""}: ${typeText(tsType)}`;
}

/** Returns a method or an accessor as a class or an interface declares it. */
export function memberText(member: Member): string {
  const { name, computed, kind, isStatic, functionDef } = member;
  const callable = functionDef ?? member as Member & Callable;
  const modifier = isStatic ? "static " : kind === "getter" ? "get " : kind === "setter" ? "set " : "";
  return modifier + methodText(computed ? `[${name}]` : name, callable);
}

/** Returns the heads of an exported name's declarations. */
export function signatureOf({ name, declarations }: Exported): string {
  const several = declarations.filter(({ kind }) => kind === "function").length > 1;
  const texts = declarations.filter(({ kind, def }) => {
    // The implementation of overloads is not public.
    return !(several && kind === "function" && (def as { hasBody?: boolean }).hasBody);
  }).map(({ kind, def }) => {
    const params = typeParamsText(def.typeParams);
    if (kind === "function") return `function ${methodText(name, def as Callable)}`;
    if (kind === "variable") return `${def.kind} ${name}: ${typeText(def.tsType)}`;
    if (kind === "typeAlias") return `type ${name}${params} = ${aliasText(def)}`;
    return `${kind} ${name}${params}${heritage(def)}`;
  });
  return texts.join("\n");
}

function aliasText({ tsType }: Definition): string {
  const line = typeText(tsType);
  if (line.length <= WIDTH || tsType?.kind !== "union") return line;
  return (tsType.value as TypeNode[]).map((one) => `\n  | ${typeText(one)}`).join("");
}

function heritage({ extends: base, superTypeParams }: Definition): string {
  if (base === undefined || base.length === 0) return "";
  return ` extends ${typeof base === "string" ? base + argumentsText(superTypeParams) : base.map(typeText).join(", ")}`;
}

/** Named formats of Kubernetes: `format.dns1123Label().validate(name)` gives nothing, or what is wrong. */
import { matchesFormat } from '@gyropilot/schema/formats'
import { goQuote } from '@gyropilot/schema/go-quote'
import {
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  labelValue,
  qualifiedName,
} from '@gyropilot/schema/validation/names'
import { actualSize, traversal } from '../costs/cost.ts'
import { PATTERN_FACTOR, STRING_TRAVERSAL, exactly, product, scaled } from '../costs/cost-range.ts'
import { declare } from '../checking/signature.ts'
import type { Costs, Library } from '../checking/signature.ts'
import { opaqueType } from '../checking/types.ts'
import { ArrayList, CelOptional, NONE, Opaque } from '../values/values.ts'

const TYPE = 'kubernetes.NamedFormat'

type Check = (text: string) => readonly string[]

class FormatValue extends Opaque {
  readonly typeName = TYPE
  readonly name: string
  readonly check: Check
  /** Length of the pattern that stands for the work of checking. */
  readonly patternLength: number

  constructor(name: string, check: Check, patternLength: number) {
    super()
    this.name = name
    this.check = check
    this.patternLength = patternLength
  }

  override equals(other: Opaque): boolean {
    return (other as FormatValue).name === this.name
  }
}

/** A prefix may end in a dash, which what is added to it makes good. */
const prefix =
  (check: Check): Check =>
  (text) =>
    check(text.endsWith('-') && text.length > 1 ? `${text.slice(0, -1)}a` : text)

const ofSchema =
  (format: string, problem: string): Check =>
  (text) =>
    text !== '' && matchesFormat(format, text) ? [] : [problem]

const LONGEST_PATTERN = 1100
const FORMATS: readonly FormatValue[] = [
  new FormatValue('dns1123Label', dnsLabel, 30),
  new FormatValue('dns1123Subdomain', dnsSubdomain, 60),
  new FormatValue('dns1035Label', dns1035Label, 30),
  new FormatValue('qualifiedName', qualifiedName, 60),
  new FormatValue('dns1123LabelPrefix', prefix(dnsLabel), 30),
  new FormatValue('dns1123SubdomainPrefix', prefix(dnsSubdomain), 60),
  new FormatValue('dns1035LabelPrefix', prefix(dns1035Label), 30),
  new FormatValue('labelValue', labelValue, 40),
  new FormatValue('uri', uriProblems, LONGEST_PATTERN),
  new FormatValue('uuid', ofSchema('uuid', 'does not match the UUID format'), 71),
  new FormatValue('byte', ofSchema('byte', 'invalid base64'), 80),
  new FormatValue('date', ofSchema('date', 'invalid date'), 130),
  new FormatValue('datetime', ofSchema('datetime', 'invalid datetime'), 130),
]
const BY_NAME = new Map(FORMATS.map((format) => [format.name, format]))

function uriProblems(text: string): readonly string[] {
  if (text === '') return ['parse "": empty url']
  return matchesFormat('uri', text) ? [] : [`parse ${goQuote(text)}: invalid URI for request`]
}

function validate(format: FormatValue, text: string): CelOptional {
  const problems = format.check(text)
  return problems.length === 0 ? NONE : new CelOptional(new ArrayList(problems))
}

/** What estimates assume of every format. */
const LONGEST_ASSUMED = 128

const VALIDATE: Costs = {
  cost: ([format, text]) => {
    const pattern = (format as FormatValue).patternLength
    return (
      traversal(text!) * Math.ceil(pattern * PATTERN_FACTOR) + (actualSize(text!) === 0 ? 1 : 0)
    )
  },
  estimate: ([, text]) => ({
    cost: product(scaled(text!.size, STRING_TRAVERSAL), {
      min: exactly(1).min,
      max: LONGEST_ASSUMED * PATTERN_FACTOR,
    }),
  }),
}

export const NAMED_FORMATS: Library = {
  constants: [{ name: TYPE, type: opaqueType(TYPE) }],
  overloads: [
    declare(`format.named(string): optional(${TYPE})`, (name: string) => {
      const format = BY_NAME.get(name)
      return format === undefined ? NONE : new CelOptional(format)
    }),
    ...FORMATS.map((format) => declare(`format.${format.name}(): ${TYPE}`, () => format)),
    declare(`${TYPE}.validate(string): optional(list(string))`, validate, VALIDATE),
  ],
}

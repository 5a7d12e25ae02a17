/**
 * What a label selector asks for, in either of its forms. Two selectors need care: a nil LabelSelector matches nothing, an
 * empty one (`{}`) matches everything (docs/behaviour/controllers/shared-controller-utils.md); an empty string matches
 * everything.
 */
import { aggregateText, byString, compareStrings } from '@gyropilot/foundation'
import { labelValueProblems, qualifiedNameProblems } from '../names.ts'

export type Labels = { readonly [key: string]: string }

/** `exists` and `!` stand alone, `=`, `==`, `!=`, `gt` and `lt` have one value, `in` and `notin` at least one. */
export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!'

export interface LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  /** Sorted, without duplicates. */
  readonly values: readonly string[]
}

/** A selector that cannot be used; the text is that of the API server. */
export class InvalidSelectorError extends Error {
  override readonly name = 'InvalidSelectorError'
}

export class LabelQuery {
  static readonly everything: LabelQuery = new LabelQuery([], false)
  static readonly nothing: LabelQuery = new LabelQuery([], true)

  /** Sorted by key. */
  readonly requirements: readonly LabelRequirement[]
  readonly matchesNothing: boolean

  private constructor(requirements: readonly LabelRequirement[], matchesNothing: boolean) {
    this.requirements = requirements
    this.matchesNothing = matchesNothing
  }

  static of(requirements: readonly LabelRequirement[]): LabelQuery {
    if (requirements.length === 0) return LabelQuery.everything
    return new LabelQuery(requirements.toSorted(byKey), false)
  }

  get matchesEverything(): boolean {
    return !this.matchesNothing && this.requirements.length === 0
  }

  matches(labels: Labels | undefined): boolean {
    if (this.matchesNothing) return false
    for (const requirement of this.requirements) if (!satisfies(requirement, labels)) return false
    return true
  }

  /** The canonical text: keys sorted, `a=b,c in (d,e),!f`. Both nothing and everything print as the empty string. */
  toString(): string {
    return this.requirements.map(formatRequirement).join(',')
  }
}

const byKey = byString((requirement: LabelRequirement) => requirement.key)

function satisfies(requirement: LabelRequirement, labels: Labels | undefined): boolean {
  const { key, operator, values } = requirement
  const present = labels !== undefined && Object.hasOwn(labels, key)
  const value = present ? labels[key]! : ''
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      return present && values.includes(value)
    case 'notin':
    case '!=':
      return !present || !values.includes(value)
    case 'exists':
      return present
    case '!':
      return !present
    case 'gt':
    case 'lt': {
      const actual = present ? integerOf(value) : undefined
      const bound = integerOf(values[0]!)
      if (actual === undefined || bound === undefined) return false
      return operator === 'gt' ? actual > bound : actual < bound
    }
  }
}

const SYMBOLS: Readonly<Record<string, string>> = {
  '=': '=',
  '==': '==',
  '!=': '!=',
  gt: '>',
  lt: '<',
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return key
  if (operator === '!') return `!${key}`
  const symbol = SYMBOLS[operator]
  return symbol === undefined
    ? `${key} ${operator} (${values.join(',')})`
    : key + symbol + values.join(',')
}

/** An integer of 64 bits. */
function integerOf(text: string): bigint | undefined {
  if (!/^[+-]?0*\d{1,19}$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, value) === value ? value : undefined
}

const OPERATORS = ['in', 'notin', '=', '==', '!=', 'gt', 'lt', 'exists', '!']

/** A checked requirement. Throws InvalidSelectorError. */
export function labelRequirement(
  key: string,
  operator: string,
  values: readonly string[],
): LabelRequirement {
  const sorted = [...new Set(values)].toSorted(compareStrings)
  const problems = [
    ...qualifiedNameProblemsOf('key', key),
    ...operatorProblems(operator, sorted),
    ...sorted.flatMap((value, index) => valueProblems(key, value, index)),
  ]
  if (problems.length > 0) throw new InvalidSelectorError(aggregateText(problems))
  return { key, operator: operator as LabelOperator, values: sorted }
}

export function qualifiedNameProblemsOf(field: string, key: string): readonly string[] {
  const problems = qualifiedNameProblems(key)
  if (problems.length === 0) return problems
  return [`${field}: Invalid value: ${JSON.stringify(key)}: ${problems.join('; ')}`]
}

function valueProblems(key: string, value: string, index: number): readonly string[] {
  const problems = labelValueProblems(value)
  if (problems.length === 0) return problems
  return [
    `values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problems.join('; ')}`,
  ]
}

function operatorProblems(operator: string, values: readonly string[]): readonly string[] {
  const invalid = (detail: string): readonly string[] => [
    `values: Invalid value: ${JSON.stringify(values)}: ${detail}`,
  ]
  switch (operator) {
    case 'in':
    case 'notin':
      if (values.length > 0) return []
      return invalid("for 'in', 'notin' operators, values set can't be empty")
    case '=':
    case '==':
    case '!=':
      return values.length === 1
        ? []
        : invalid('exact-match compatibility requires one single value')
    case 'exists':
    case '!':
      return values.length === 0
        ? []
        : invalid('values set must be empty for exists and does not exist')
    case 'gt':
    case 'lt':
      if (values.length !== 1)
        return invalid("for 'Gt', 'Lt' operators, exactly one value is required")
      if (integerOf(values[0]!) !== undefined) return []
      return [
        `values[0]: Invalid value: ${JSON.stringify(values[0])}: for 'Gt', 'Lt' operators, the value must be an integer`,
      ]
    default: {
      const supported = OPERATORS.toSorted(compareStrings).map((text) => JSON.stringify(text))
      return [
        `operator: Unsupported value: ${JSON.stringify(operator)}: supported values: ${supported.join(', ')}`,
      ]
    }
  }
}

/** The object form of label selectors: matchLabels and matchExpressions. */
import { byString } from '@gyropilot/foundation'
import type { LabelSelector, LabelSelectorRequirement } from '../generated/meta-v1.ts'
import type { LabelOperator, LabelRequirement, Labels } from './label-query.ts'
import { InvalidSelectorError, LabelQuery, labelRequirement } from './label-query.ts'
import { labelValueProblems, qualifiedNameProblems } from '../names.ts'

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

/** Nil matches nothing, `{}` everything. Throws InvalidSelectorError. */
export function labelQueryOf(selector: LabelSelector | null | undefined): LabelQuery {
  if (selector === undefined || selector === null) return LabelQuery.nothing
  const requirements: LabelRequirement[] = []
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push(labelRequirement(key, '=', [value]))
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    if (!Object.hasOwn(OPERATORS, operator)) {
      throw new InvalidSelectorError(
        `${JSON.stringify(operator)} is not a valid label selector operator`,
      )
    }
    requirements.push(labelRequirement(key, OPERATORS[operator]!, values ?? []))
  }
  return LabelQuery.of(requirements)
}

/**
 * All of these labels, unchecked: for selectors that are plain maps, as a Service's or a ReplicationController's. An empty or
 * absent map matches everything; callers for whom that is wrong must ask first.
 */
export function labelQueryOfLabels(labels: Labels | null | undefined): LabelQuery {
  return LabelQuery.of(
    Object.entries(labels ?? {}).map(([key, value]) => ({ key, operator: '=', values: [value] })),
  )
}

export interface SelectorProblem {
  readonly type: 'FieldValueInvalid' | 'FieldValueRequired' | 'FieldValueForbidden'
  readonly field: string
  /** Of FieldValueInvalid. */
  readonly value?: string
  readonly detail: string
}

/** What the API server complains of in a selector. `path` is the field that holds it. */
export function labelSelectorProblems(
  selector: LabelSelector | null | undefined,
  path: string,
): readonly SelectorProblem[] {
  if (selector === undefined || selector === null) return []
  const problems: SelectorProblem[] = []
  const matchLabels = Object.entries(selector.matchLabels ?? {}).toSorted(byString(([key]) => key))
  for (const [key, value] of matchLabels) {
    const field = `${path}.matchLabels`
    problems.push(...invalid(field, key, qualifiedNameProblems(key)))
    problems.push(...invalid(field, value, labelValueProblems(value)))
  }
  selector.matchExpressions?.forEach((expression, index) => {
    problems.push(...expressionProblems(expression, `${path}.matchExpressions[${index}]`))
  })
  return problems
}

function expressionProblems(
  { key, operator, values = [] }: LabelSelectorRequirement,
  path: string,
): readonly SelectorProblem[] {
  const problems: SelectorProblem[] = []
  const field = `${path}.values`
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        const detail = "must be specified when `operator` is 'In' or 'NotIn'"
        problems.push({ type: 'FieldValueRequired', field, detail })
      }
      break
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        problems.push({ type: 'FieldValueForbidden', field, detail })
      }
      break
    default:
      problems.push(...invalid(`${path}.operator`, operator, ['not a valid selector operator']))
  }
  problems.push(...invalid(`${path}.key`, key, qualifiedNameProblems(key)))
  values.forEach((value, index) => {
    problems.push(...invalid(`${field}[${index}]`, value, labelValueProblems(value)))
  })
  return problems
}

function invalid(
  field: string,
  value: string,
  details: readonly string[],
): readonly SelectorProblem[] {
  return details.map((detail) => ({ type: 'FieldValueInvalid', field, value, detail }))
}

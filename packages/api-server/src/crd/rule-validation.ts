/**
 * Checks the rules that a definition brings: they compile, give a bool, and cannot cost too much.
 * Contract: docs/behaviour/api-server/custom-resources.md, CEL rules and Cost.
 */
import type { Compiled } from '@gyropilot/cel'
import { byString } from '@gyropilot/foundation'
import { cel } from '@gyropilot/cel/load'
import type { CelType } from '@gyropilot/cel/types'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { MAX_REQUEST_BYTES, SELF_TYPE, declaredType } from '@gyropilot/cel/schema-types'
import { ruleEnvironment, rulesAt, rulesOf } from './rules.ts'
import type { RuleSource } from './rules.ts'
import { runRules } from './run-rules.ts'
import {
  additionalOf,
  hasRules,
  isEmbedded,
  itemsOf,
  propertiesOf,
  propertyOf,
  simplePath,
} from './schemas/structural-schema.ts'
import type { SchemaVerdict } from './schemas/schema-validation.ts'
import type { Schema } from './schemas/structural-schema.ts'
import { stringifyExact } from '@gyropilot/schema/exact-json'

const RULE_LIMIT = 10_000_000
const DEFINITION_LIMIT = 100_000_000
const MOST_EXPENSIVE_SHOWN = 4
const WORTH_SHOWING = 1_000_000
const REASONS = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
]

/** Where in the schema, and how often a value may be there. */
interface Place {
  readonly path: string
  readonly isResource: boolean
  /** Undefined: nothing bounds it but the size of a request. */
  readonly cardinality: number | undefined
  /** The nearest list whose items have no counterpart in the old object. */
  readonly uncorrelatable: string | undefined
}

/** `stored`: the schema before an update, whose expressions are not judged by their cost again. */
export function validateRules(
  schema: Schema,
  path: string,
  verdict: SchemaVerdict,
  stored: Schema | undefined,
  errors: FieldErrors,
): void {
  if (!hasRules(schema)) return
  const known = new Set(stored === undefined ? [] : expressionsOf(stored))
  const check = new RuleCheck(errors, verdict, known)
  check.node(schema, {
    path,
    isResource: true,
    cardinality: 1,
    uncorrelatable: undefined,
  })
  check.reportTotal(path)
}

function expressionsOf(schema: Schema): string[] {
  const own = rulesAt(schema).flatMap(({ rule, messageExpression }) => [
    rule,
    messageExpression ?? '',
  ])
  const additional = additionalOf(schema)
  const items = itemsOf(schema)
  const children = [
    ...Object.values(propertiesOf(schema)),
    ...(additional === undefined || additional === true ? [] : [additional]),
    ...(items === undefined ? [] : [items]),
  ]
  return [...own, ...children.filter(hasRules).flatMap(expressionsOf)]
}

/** How what is wrong with an expression begins. */
interface Failures {
  readonly compilation: string
  readonly instantiation: string
}
const RULE: Failures = {
  compilation: 'compilation failed: ',
  instantiation: 'program instantiation failed: ',
}
const MESSAGE_EXPRESSION: Failures = {
  compilation: 'messageExpression compilation failed: ',
  instantiation: 'messageExpression instantiation failed: ',
}

class RuleCheck {
  readonly #errors: FieldErrors
  readonly #verdict: SchemaVerdict
  readonly #known: ReadonlySet<string>
  /** Places of rules whose texts were refused. */
  readonly #refused: string[] = []
  readonly #costs: { readonly path: string; readonly cost: number }[] = []
  #total = 0
  /** The part of the total that was accepted before. */
  #knownCost = 0

  constructor(errors: FieldErrors, verdict: SchemaVerdict, known: ReadonlySet<string>) {
    this.#errors = errors
    this.#verdict = verdict
    this.#known = known
  }

  node(schema: Schema, place: Place): void {
    if (!hasRules(schema)) return
    this.#children(schema, place)
    const rules = rulesAt(schema)
    if (rules.length === 0) return
    const before = this.#errors.list.length
    for (const [index, rule] of rules.entries())
      this.#texts(rule, schema, `${place.path}.x-kubernetes-validations[${index}]`)
    if (this.#errors.list.length > before) this.#refused.push(place.path)
    if (!this.#canCompile(place.path)) return
    const declared = declaredType(schema, SELF_TYPE, place.isResource)
    if (declared === undefined) {
      this.#errors.internal(
        `${place.path}.x-kubernetes-validations`,
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
      )
      return
    }
    const times = place.cardinality ?? Math.floor(MAX_REQUEST_BYTES / (declared.minBytes + 1))
    for (const [index, rule] of rules.entries())
      this.#rule(
        rule,
        declared.type,
        times,
        `${place.path}.x-kubernetes-validations[${index}]`,
        place,
      )
    if (this.#errors.list.length === before) this.#default(schema, place.path)
  }

  /** Types are known where the schema is structural and nothing was refused here or below. */
  #canCompile(path: string): boolean {
    return (
      this.#verdict.isTyped &&
      !this.#verdict.hasProblemBelow(path) &&
      !this.#refused.some((refused) => refused.startsWith(path))
    )
  }

  #children(schema: Schema, place: Place): void {
    const { path, cardinality } = place
    for (const [name, property] of Object.entries(propertiesOf(schema)).toSorted(
      byString(([key]) => key),
    ))
      this.node(property, {
        ...place,
        path: `${path}.properties[${name}]`,
        isResource: isEmbedded(property),
      })
    const additional = additionalOf(schema)
    if (additional !== undefined && additional !== true) {
      this.node(additional, {
        ...place,
        path: `${path}.additionalProperties`,
        isResource: isEmbedded(additional),
        cardinality: times(cardinality, schema.maxProperties),
      })
    }
    const items = itemsOf(schema)
    if (items === undefined) return
    const correlates = schema['x-kubernetes-list-type'] === 'map'
    this.node(items, {
      ...place,
      path: `${path}.items`,
      isResource: isEmbedded(items),
      cardinality: times(cardinality, schema.maxItems),
      uncorrelatable: place.uncorrelatable ?? (correlates ? undefined : path),
    })
  }

  #texts(source: RuleSource, typed: Schema, path: string): void {
    const { message = '', messageExpression = '', reason, fieldPath = '' } = source
    const rule = (source.rule ?? '').trim()
    const trimmed = message.trim()
    const errors = this.#errors
    if (rule === '') errors.required(`${path}.rule`, 'rule is not specified')
    else if (message !== '' && trimmed === '')
      errors.invalid(`${path}.message`, message, 'must be non-empty if specified')
    else if (hasLineBreak(trimmed))
      errors.invalid(`${path}.message`, message, 'must not contain line breaks')
    else if (hasLineBreak(rule) && trimmed === '')
      errors.required(`${path}.message`, 'message must be specified if rule contains line breaks')
    if (messageExpression !== '' && messageExpression.trim() === '')
      errors.required(
        `${path}.messageExpression`,
        'messageExpression must be non-empty if specified',
      )
    if (reason !== undefined && !REASONS.includes(reason))
      errors.notSupported(`${path}.reason`, reason, REASONS)
    if (fieldPath === '') return
    const at = `${path}.fieldPath`
    if (fieldPath.trim() === '') errors.invalid(at, fieldPath, 'must be non-empty if specified')
    if (hasLineBreak(fieldPath)) errors.invalid(at, fieldPath, 'must not contain line breaks')
    if (!isFieldPath(fieldPath, typed)) errors.invalid(at, fieldPath, 'must be a valid path')
  }

  #rule(source: RuleSource, type: CelType, cardinality: number, path: string, place: Place): void {
    const at = `${path}.rule`
    const program = this.#compile(source, source.rule, type, at, RULE)
    if (program?.type.kind !== 'bool') {
      if (program !== undefined) this.#refuse(at, source, 'cel expression must evaluate to a bool')
      // What a rule uses is not known before it is understood.
      this.#refuseOptional(source, path)
      return
    }
    const { max } = program.estimate()
    const cost = max * cardinality
    this.#cost(source.rule, 'estimated rule cost', cost, at)
    if (program.uses('oldSelf') && place.uncorrelatable !== undefined) {
      this.#errors.invalid(
        at,
        source.rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`,
      )
    } else if (!program.uses('oldSelf')) this.#refuseOptional(source, path)
    this.#messageExpression(source, type, path)
  }

  #refuseOptional({ optionalOldSelf }: RuleSource, path: string): void {
    if (optionalOldSelf === undefined) return
    this.#errors.invalid(
      `${path}.optionalOldSelf`,
      optionalOldSelf,
      'may not be set if oldSelf is not used in rule',
    )
  }

  #messageExpression(source: RuleSource, type: CelType, path: string): void {
    const text = source.messageExpression
    if (text === undefined || text === '') return
    const at = `${path}.messageExpression`
    const program = this.#compile(source, text, type, at, MESSAGE_EXPRESSION)
    if (program === undefined) return
    if (program.type.kind !== 'string')
      this.#refuse(at, source, 'messageExpression must evaluate to a string')
    else this.#cost(text, 'estimated messageExpression cost', program.estimate().max, at)
  }

  #compile(
    source: RuleSource,
    text: string,
    type: CelType,
    path: string,
    { compilation, instantiation }: Failures,
  ): Compiled | undefined {
    const { compile, CompileError, ProgramError } = cel()
    try {
      return compile(text, ruleEnvironment(type, source))
    } catch (error) {
      if (error instanceof CompileError) this.#refuse(path, source, compilation + error.message)
      else if (error instanceof ProgramError)
        this.#refuse(path, source, instantiation + error.reason)
      else throw error
      return undefined
    }
  }

  /** The value shown is the whole rule, as the reference server's type of it is encoded. */
  #refuse(path: string, source: RuleSource, detail: string): void {
    const shown = {
      Rule: source.rule,
      Message: source.message ?? '',
      MessageExpression: source.messageExpression ?? '',
      Reason: source.reason ?? null,
      FieldPath: source.fieldPath ?? '',
      OptionalOldSelf: source.optionalOldSelf ?? null,
    }
    this.#errors.list.push({
      type: 'FieldValueInvalid',
      field: path,
      message: `Invalid value: ${goJson(shown)}: ${detail}`,
    })
  }

  #cost(expression: string, what: string, cost: number, path: string): void {
    if (cost > RULE_LIMIT && !this.#known.has(expression))
      this.#errors.forbidden(path, costText(what, cost, RULE_LIMIT))
    this.#costs.push({ path, cost })
    this.#total += cost
    if (this.#known.has(expression)) this.#knownCost += cost
  }

  reportTotal(path: string): void {
    // What was accepted once goes on to be accepted.
    if (this.#total <= DEFINITION_LIMIT || this.#knownCost === this.#total) return
    const expensive = this.#costs.toSorted((a, b) => b.cost - a.cost)
    const shown = expensive.filter(({ cost }) => cost >= WORTH_SHOWING)
    for (const entry of shown.slice(0, MOST_EXPENSIVE_SHOWN)) {
      this.#errors.forbidden(
        entry.path,
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      )
    }
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    this.#errors.forbidden(path, costText(what, this.#total, DEFINITION_LIMIT))
  }

  /** A default has to keep the rules of its place. */
  #default(schema: Schema, path: string): void {
    const tree = schema.default === undefined ? undefined : rulesOf(schema)
    if (tree === undefined) return
    const own = new FieldErrors()
    runRules(tree, schema.default, undefined, { errors: own, tolerated: own })
    for (const error of own.list) {
      const below = error.field === '<nil>' || error.field === '' ? '' : `.${error.field}`
      this.#errors.list.push({ ...error, field: `${path}.default${below}` })
    }
  }
}

function times(cardinality: number | undefined, bound: number | undefined): number | undefined {
  return cardinality === undefined || bound === undefined ? undefined : cardinality * bound
}

function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text)
}

function goJson(value: unknown): string {
  const escaped: Readonly<Record<string, string>> = {
    '<': '\\u003c',
    '>': '\\u003e',
    '&': '\\u0026',
  }
  return stringifyExact(value).replaceAll(/[<>&]/g, (character) => escaped[character]!)
}

/** `exceeds budget by factor of 3.2x`: close to the limit with more digits, far beyond it with none. */
function costText(what: string, cost: number, limit: number): string {
  const exceeded = cost / limit
  const factor =
    exceeded > 100
      ? 'more than 100x'
      : exceeded < 1.5
        ? `${exceeded.toFixed(6)}x`
        : `${exceeded.toFixed(1)}x`
  return `${what} exceeds budget by factor of ${factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}

const FIELD_PATH = /^(?:\.(?:[^.[\]\\]|\\.)+|\['(?:[^'\\]|\\.)*'\])+$/

/** Whether it leads to a field of the schema. */
function isFieldPath(fieldPath: string, schema: Schema): boolean {
  if (!FIELD_PATH.test(fieldPath)) return false
  let node: Schema | undefined = schema
  for (const name of simplePath(fieldPath)) {
    const additional = additionalOf(node)
    node = propertyOf(node, name) ?? (additional === true ? undefined : additional)
    if (node === undefined) return false
  }
  return true
}

/**
 * Checks the rules that a definition brings: they compile, give a bool, and cannot cost too much.
 * Contract: docs/behaviour/api-server/custom-resources.md, CEL rules and Cost.
 */
import type { Compiled } from '@gyropilot/cel'
import { cel } from '@gyropilot/cel/load'
import type { CelType } from '@gyropilot/cel/types'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { MAX_REQUEST_BYTES, SELF_TYPE, declaredType } from '@gyropilot/cel/schema-types'
import { WrongType, compileRule, ruleEnvironment, rulesAt, whyNot } from './rules.ts'
import type { RuleSource } from './rules.ts'
import { foreignKeyword } from './schemas/foreign-keyword.ts'
import { followPath } from './schemas/field-path.ts'
import { additionalOf, hasRules, itemsOf, propertiesOf } from './schemas/structural-schema.ts'
import type { PlaceRules, RulePlace } from './schemas/openapi-validation.ts'
import type { Schema } from './schemas/structural-schema.ts'
import { stringifyExact } from '@gyropilot/foundation/exact-json'

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

/** Judges the rules place by place, those further down first, and then what all of them cost. */
export class RuleCheck implements PlaceRules {
  readonly #errors: FieldErrors
  readonly #isTyped: boolean
  readonly #known: ReadonlySet<string>
  /** Where the list of errors stood before the first place. */
  readonly #first: number
  /** What is said of rules that were compiled, after all else. */
  readonly #ofCompiled = new FieldErrors()
  readonly #costs: { readonly path: string; readonly cost: number }[] = []
  #total = 0
  /** The part of the total that was accepted before. */
  #knownCost = 0

  /**
   * `isTyped`: the schema is structural, with good defaults; else texts are checked, and nothing is compiled.
   * `stored`: the schema before an update, whose expressions are not judged by their cost again.
   */
  constructor(errors: FieldErrors, isTyped: boolean, stored: Schema | undefined) {
    this.#errors = errors
    this.#isTyped = isTyped
    this.#known = new Set(stored === undefined ? [] : expressionsOf(stored))
    this.#first = errors.list.length
  }

  at(schema: Schema, place: RulePlace): void {
    const rules = rulesAt(schema)
    if (rules.length === 0) return
    for (const [index, rule] of rules.entries())
      this.#texts(rule, schema, `${place.path}.x-kubernetes-validations[${index}]`)
    if (this.#canCompile(place.path)) this.#compileAll(schema, rules, place)
  }

  /** Types are known where the schema is structural and nothing was refused here or below. */
  #canCompile(path: string): boolean {
    return (
      this.#isTyped &&
      !this.#errors.list.slice(this.#first).some(({ field }) => field.startsWith(path))
    )
  }

  #compileAll(schema: Schema, rules: readonly RuleSource[], place: RulePlace): void {
    const declared = declaredType(schema, SELF_TYPE, place.isResource)
    if (declared === undefined) {
      this.#ofCompiled.internal(
        `${place.path}.x-kubernetes-validations`,
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
      )
      return
    }
    const times = place.cardinality ?? Math.floor(MAX_REQUEST_BYTES / (declared.minBytes + 1))
    for (const [index, rule] of rules.entries()) {
      const path = `${place.path}.x-kubernetes-validations[${index}]`
      this.#rule(rule, declared.type, times, path, place)
    }
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
    // Where the path leads is not known in a schema that is none.
    if (foreignKeyword(typed) !== undefined) return
    const { problem } = followPath(fieldPath, typed, { from: '', brackets: true })
    if (problem !== undefined) errors.invalid(at, fieldPath, 'must be a valid path')
  }

  #rule(
    source: RuleSource,
    type: CelType,
    cardinality: number,
    path: string,
    place: RulePlace,
  ): void {
    const at = `${path}.rule`
    const program = compileRule(source, type)
    if (typeof program === 'string') {
      this.#refuse(at, source, program)
      // What a rule uses is not known before it is understood.
      this.#refuseOptional(source, path)
      return
    }
    this.#cost(source.rule, 'estimated rule cost', program.estimate().max * cardinality, at)
    this.#messageExpression(source, type, path)
    if (!program.uses('oldSelf')) this.#refuseOptional(source, path)
    else if (place.uncorrelatable !== undefined)
      this.#ofCompiled.invalid(
        at,
        source.rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`,
      )
  }

  #refuseOptional({ optionalOldSelf }: RuleSource, path: string): void {
    if (optionalOldSelf === undefined) return
    this.#ofCompiled.invalid(
      `${path}.optionalOldSelf`,
      optionalOldSelf,
      'may not be set if oldSelf is not used in rule',
    )
  }

  #messageExpression(source: RuleSource, type: CelType, path: string): void {
    const text = source.messageExpression
    if (text === undefined || text === '') return
    const at = `${path}.messageExpression`
    let program: Compiled
    try {
      program = cel().compile(text, ruleEnvironment(type, source), ({ kind }) => {
        if (kind !== 'string') throw new WrongType()
      })
    } catch (error) {
      const why =
        error instanceof WrongType ? 'must evaluate to a string' : whyNot(error, 'instantiation')
      this.#refuse(at, source, `messageExpression ${why}`)
      return
    }
    this.#cost(text, 'estimated messageExpression cost', program.estimate().max, at)
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
    this.#ofCompiled.list.push({
      type: 'FieldValueInvalid',
      field: path,
      message: `Invalid value: ${goJson(shown)}: ${detail}`,
    })
  }

  #cost(expression: string, what: string, cost: number, path: string): void {
    if (cost > RULE_LIMIT && !this.#known.has(expression))
      this.#ofCompiled.forbidden(path, costText(what, cost, RULE_LIMIT))
    this.#costs.push({ path, cost })
    this.#total += cost
    if (this.#known.has(expression)) this.#knownCost += cost
  }

  /** Tells what was found of all rules. */
  finish(path: string): void {
    this.#reportTotal(path)
    this.#errors.list.push(...this.#ofCompiled.list)
  }

  #reportTotal(path: string): void {
    // What was accepted once goes on to be accepted.
    if (this.#total <= DEFINITION_LIMIT || this.#knownCost === this.#total) return
    const expensive = this.#costs.toSorted((a, b) => b.cost - a.cost)
    const shown = expensive.filter(({ cost }) => cost >= WORTH_SHOWING)
    for (const entry of shown.slice(0, MOST_EXPENSIVE_SHOWN)) {
      this.#ofCompiled.forbidden(
        entry.path,
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      )
    }
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    this.#ofCompiled.forbidden(path, costText(what, this.#total, DEFINITION_LIMIT))
  }
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

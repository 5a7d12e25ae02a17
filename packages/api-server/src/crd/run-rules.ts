/** Runs the rules of a schema over an object. Contract: docs/behaviour/api-server/custom-resources.md, CEL rules. */
import type { Value } from '@gyropilot/cel'
import { cel } from '@gyropilot/cel/load'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { ownValue } from '../registry/equality.ts'
import type { BrokenRule, CompiledRule, RuleTree } from './rules.ts'
import { childPath, isObject, itemsOf } from './schemas/structural-schema.ts'
import { followPath } from './schemas/field-path.ts'
import { correlatedItems, isUnchanged } from './schemas/stored-values.ts'

/** Of one rule at one place. */
const CALL_LIMIT = 1_000_000
/** Of all rules over one object. */
const OBJECT_LIMIT = 10_000_000
const LONGEST_MESSAGE_BYTES = 5120

/** The root of an object has no path. */
const NO_FIELD = '<nil>'

const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run'

interface RuleFindings {
  readonly errors: FieldErrors
  /** Broken rules that are tolerated, because the value did not change. */
  readonly tolerated: FieldErrors
}

/** `old`: the stored object, on an update. */
export function runRules(
  tree: RuleTree,
  value: unknown,
  old: unknown,
  findings: RuleFindings,
): void {
  try {
    new RuleRun(findings).node(tree, value, old, '')
  } catch (error) {
    if (!(error instanceof Stop)) throw error
  }
}

/** Ends the run: no rule is looked at any more. */
class Stop extends Error {}

class RuleRun {
  readonly #findings: RuleFindings
  #left = OBJECT_LIMIT

  constructor(findings: RuleFindings) {
    this.#findings = findings
  }

  /** `old` is undefined where nothing in the stored object corresponds. */
  node(tree: RuleTree, value: unknown, old: unknown, path: string): void {
    if (value === null || value === undefined) return
    const before = old === null ? undefined : old
    for (const rule of tree.rules) this.#rule(rule, tree, value, before, path)
    if (Array.isArray(value)) this.#items(tree, value, before, path)
    else if (isObject(value)) {
      const stored = isObject(before) ? before : undefined
      for (const name of Object.keys(value)) {
        const field = tree.properties.get(name)
        const counterpart = stored && ownValue(stored, name)
        if (field !== undefined) this.node(field, value[name], counterpart, childPath(path, name))
        else if (tree.additional !== undefined)
          this.node(tree.additional, value[name], counterpart, `${path}[${name}]`)
      }
    }
  }

  #items({ items, schema }: RuleTree, value: readonly unknown[], old: unknown, path: string): void {
    if (items === undefined || itemsOf(schema) === undefined) return
    const before = correlatedItems(schema, old)
    for (const [index, item] of value.entries())
      this.node(items, item, before?.(item), `${path}[${index}]`)
  }

  #rule(
    rule: CompiledRule | BrokenRule,
    tree: RuleTree,
    value: unknown,
    old: unknown,
    path: string,
  ): void {
    const shown = tree.schema.type ?? ''
    if ('problem' in rule) {
      const at = path === '' ? NO_FIELD : path
      this.#findings.errors.invalid(at, shown, `rule compile error: ${rule.problem}`)
      return
    }
    if (rule.transition && old === undefined) return
    const usesOld = rule.program.uses('oldSelf')
    const tolerated =
      !usesOld && old !== undefined && isUnchanged(value, { value: old, schema: tree.schema })
    const into = tolerated ? this.#findings.tolerated : this.#findings.errors
    const variables = this.#variables(rule, tree, value, old)
    const result = this.#evaluate(rule.program, variables)
    if (result instanceof Error) {
      this.#report(rule, result, shown, path)
    } else if (result !== true) {
      const { fieldPath = '' } = rule.source
      const at = followPath(fieldPath, tree.schema, { from: path, brackets: true }).field
      addError(into, rule, at, value, this.#message(rule, variables))
    }
  }

  /** A rule that fails to run is not tolerated: nobody knows whether it is broken. */
  #report(rule: CompiledRule, error: Error, shown: string, path: string): void {
    const where = ruleText(rule)
    const at = path === '' ? NO_FIELD : path
    if (error instanceof cel().CostExceeded) {
      const exhausted =
        this.#left <= 0
          ? OUT_OF_BUDGET
          : `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${where}`
      this.#findings.errors.invalid(at, shown, exhausted)
      throw new Stop()
    }
    const text = error.message.startsWith('no such overload')
      ? `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${where}`
      : `${error.message} evaluating rule: ${where}`
    this.#findings.errors.invalid(at, shown, text)
  }

  #variables(rule: CompiledRule, { type }: RuleTree, value: unknown, old: unknown) {
    const { valueOf, CelOptional, NONE } = cel()
    let self: Value | undefined
    return (name: string): Value | undefined => {
      if (name === 'self') return (self ??= valueOf(value, type!))
      if (rule.source.optionalOldSelf !== true) return valueOf(old, type!)
      return old === undefined ? NONE : new CelOptional(valueOf(old, type!))
    }
  }

  #evaluate(
    program: CompiledRule['program'],
    variables: (name: string) => Value | undefined,
  ): Value | Error {
    const { CostMeter, CostExceeded, EvaluationError } = cel()
    const meter = new CostMeter(Math.min(CALL_LIMIT, this.#left))
    try {
      return program.evaluate(variables, meter)
    } catch (error) {
      if (error instanceof EvaluationError || error instanceof CostExceeded) return error
      throw error
    } finally {
      this.#left -= meter.spent
    }
  }

  /** What the rule says, or else its own text. An expression that gives nothing usable is passed over. */
  #message({ source, message }: CompiledRule, variables: (name: string) => Value | undefined) {
    if (message !== undefined) {
      const result = this.#evaluate(message, variables)
      const text = typeof result === 'string' ? result.trim() : ''
      const usable =
        text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= LONGEST_MESSAGE_BYTES
      if (usable) return text
    }
    const given = source.message?.trim() ?? ''
    return given === '' ? `failed rule: ${source.rule.trim()}` : given
  }
}

function ruleText({ source }: CompiledRule): string {
  const message = source.message?.trim() ?? ''
  return message === '' ? source.rule.trim() : message
}

function addError(
  errors: FieldErrors,
  { source }: CompiledRule,
  field: string,
  value: unknown,
  message: string,
): void {
  // What is as large as an object is not repeated.
  const omitted = typeof value === 'object'
  const at = field === '' ? NO_FIELD : field
  switch (source.reason) {
    case 'FieldValueForbidden':
      errors.forbidden(at, message)
      break
    case 'FieldValueRequired':
      errors.required(at, message)
      break
    case 'FieldValueDuplicate':
      if (omitted) errors.duplicateOmitted(at)
      else errors.duplicate(at, value)
      break
    default:
      if (omitted)
        errors.list.push({
          type: 'FieldValueInvalid',
          field: at,
          message: `Invalid value: ${message}`,
        })
      else errors.invalid(at, value, message)
  }
}

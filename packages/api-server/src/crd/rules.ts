/** Rules of a schema (x-kubernetes-validations), compiled once and kept as long as the schema. */
import type { Compiled, Environment } from '@gyropilot/cel'
import { cel } from '@gyropilot/cel/load'
import type { CelType } from '@gyropilot/cel/types'
import { SELF_TYPE, declaredType } from '@gyropilot/cel/schema-types'
import {
  additionalOf,
  hasRules,
  isEmbedded,
  itemsOf,
  propertiesOf,
} from './schemas/structural-schema.ts'
import type { Schema } from './schemas/structural-schema.ts'

export interface RuleSource {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

export interface CompiledRule {
  readonly source: RuleSource
  readonly program: Compiled
  readonly message: Compiled | undefined
  /** Looks at the old value: not run without one. */
  readonly transition: boolean
}

/** One that gives no bool, or does not compile. */
export interface BrokenRule {
  readonly problem: string
}

/** The rules at one place of a schema and below. Places without rules are left out. */
export interface RuleTree {
  readonly schema: Schema
  readonly type: CelType | undefined
  readonly rules: readonly (CompiledRule | BrokenRule)[]
  readonly properties: ReadonlyMap<string, RuleTree>
  readonly additional: RuleTree | undefined
  readonly items: RuleTree | undefined
}

const trees = new WeakMap<Schema, RuleTree | 'none'>()

/** Undefined for a schema without rules. The schema must not change afterwards. */
export function rulesOf(schema: Schema): RuleTree | undefined {
  let tree = trees.get(schema)
  if (tree === undefined) {
    // Definitions are checked when they come in: what is broken was stored by a server that knew more functions.
    tree = hasRules(schema) ? (build(schema, true, false) ?? 'none') : 'none'
    trees.set(schema, tree)
  }
  return tree === 'none' ? undefined : tree
}

/** With those that are broken: of a definition that is being judged. */
export function allRulesOf(schema: Schema, isResource: boolean): RuleTree | undefined {
  return build(schema, isResource, true)
}

function build(schema: Schema, isResource: boolean, withBroken: boolean): RuleTree | undefined {
  if (!hasRules(schema)) return undefined
  const own = rulesAt(schema)
  const type = own.length > 0 ? declaredType(schema, SELF_TYPE, isResource)?.type : undefined
  const properties = new Map<string, RuleTree>()
  for (const [property, propertySchema] of Object.entries(propertiesOf(schema))) {
    const below = build(propertySchema, isEmbedded(propertySchema), withBroken)
    if (below !== undefined) properties.set(property, below)
  }
  const additional = additionalOf(schema)
  const items = itemsOf(schema)
  return {
    schema,
    type,
    rules: type === undefined ? [] : compileRules(own, type, withBroken),
    properties,
    additional:
      additional === undefined || additional === true
        ? undefined
        : build(additional, isEmbedded(additional), withBroken),
    items: items && build(items, isEmbedded(items), withBroken),
  }
}

export function rulesAt(schema: Schema): readonly RuleSource[] {
  return (schema['x-kubernetes-validations'] ?? []) as readonly RuleSource[]
}

/** An expression that gives something else than its place asks for. */
export class WrongType extends Error {}

/** A rule that gives a bool, or why it is none. */
export function compileRule(source: RuleSource, type: CelType): Compiled | string {
  try {
    return cel().compile(source.rule, ruleEnvironment(type, source), ({ kind }) => {
      if (kind !== 'bool') throw new WrongType()
    })
  } catch (error) {
    if (error instanceof WrongType) return 'cel expression must evaluate to a bool'
    return whyNot(error, 'program instantiation')
  }
}

/** `evaluated`: what failed when a constant part could not be evaluated. */
export function whyNot(error: unknown, evaluated: string): string {
  if (error instanceof cel().CompileError) return `compilation failed: ${error.message}`
  if (error instanceof cel().ProgramError) return `${evaluated} failed: ${error.reason}`
  throw error
}

function compileRules(
  sources: readonly RuleSource[],
  type: CelType,
  withBroken: boolean,
): (CompiledRule | BrokenRule)[] {
  return sources.flatMap((source): (CompiledRule | BrokenRule)[] => {
    if ((source.rule ?? '').trim() === '') return []
    const program = compileRule(source, type)
    if (typeof program === 'string') return withBroken ? [{ problem: program }] : []
    const transition = program.uses('oldSelf') && source.optionalOldSelf !== true
    return [{ source, program, message: messageOf(source, type), transition }]
  })
}

/** Undefined without one, and for one that cannot be used. */
function messageOf(source: RuleSource, type: CelType): Compiled | undefined {
  if (!source.messageExpression) return undefined
  try {
    return cel().compile(source.messageExpression, ruleEnvironment(type, source))
  } catch (error) {
    whyNot(error, '')
    return undefined
  }
}

export function ruleEnvironment(type: CelType, { optionalOldSelf }: RuleSource): Environment {
  const { RULES_ENVIRONMENT, optionalType } = cel()
  return RULES_ENVIRONMENT.withVariables({
    self: type,
    oldSelf: optionalOldSelf === true ? optionalType(type) : type,
  })
}

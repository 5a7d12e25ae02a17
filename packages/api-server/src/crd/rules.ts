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

/** The rules at one place of a schema and below. Places without rules are left out. */
export interface RuleTree {
  readonly schema: Schema
  readonly type: CelType | undefined
  readonly rules: readonly CompiledRule[]
  readonly properties: ReadonlyMap<string, RuleTree>
  readonly additional: RuleTree | undefined
  readonly items: RuleTree | undefined
}

const trees = new WeakMap<Schema, RuleTree | 'none'>()

/** Undefined for a schema without rules. The schema must not change afterwards. */
export function rulesOf(schema: Schema): RuleTree | undefined {
  let tree = trees.get(schema)
  if (tree === undefined) {
    tree = hasRules(schema) ? (build(schema, true) ?? 'none') : 'none'
    trees.set(schema, tree)
  }
  return tree === 'none' ? undefined : tree
}

function build(schema: Schema, isResource: boolean): RuleTree | undefined {
  if (!hasRules(schema)) return undefined
  const own = rulesAt(schema)
  const type = own.length > 0 ? declaredType(schema, SELF_TYPE, isResource)?.type : undefined
  const properties = new Map<string, RuleTree>()
  for (const [property, propertySchema] of Object.entries(propertiesOf(schema))) {
    const below = build(propertySchema, isEmbedded(propertySchema))
    if (below !== undefined) properties.set(property, below)
  }
  const additional = additionalOf(schema)
  const items = itemsOf(schema)
  return {
    schema,
    type,
    rules: type === undefined ? [] : compileRules(own, type),
    properties,
    additional:
      additional === undefined || additional === true
        ? undefined
        : build(additional, isEmbedded(additional)),
    items: items && build(items, isEmbedded(items)),
  }
}

export function rulesAt(schema: Schema): readonly RuleSource[] {
  return (schema['x-kubernetes-validations'] ?? []) as readonly RuleSource[]
}

function compileRules(sources: readonly RuleSource[], type: CelType): CompiledRule[] {
  return sources.flatMap((source): CompiledRule[] => {
    try {
      const environment = ruleEnvironment(type, source)
      const program = cel().compile(source.rule, environment)
      return [
        {
          source,
          program,
          message: source.messageExpression
            ? cel().compile(source.messageExpression, environment)
            : undefined,
          transition: program.uses('oldSelf') && source.optionalOldSelf !== true,
        },
      ]
    } catch (error) {
      // Definitions are checked when they come in: this one was stored by a server that knew more functions.
      if (error instanceof cel().CompileError || error instanceof cel().ProgramError) return []
      throw error
    }
  })
}

export function ruleEnvironment(type: CelType, { optionalOldSelf }: RuleSource): Environment {
  const { RULES_ENVIRONMENT, optionalType } = cel()
  return RULES_ENVIRONMENT.withVariables({
    self: type,
    oldSelf: optionalOldSelf === true ? optionalType(type) : type,
  })
}

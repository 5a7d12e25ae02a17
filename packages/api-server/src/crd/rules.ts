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
  propertyOf,
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
  /** An unchanged value that breaks it is tolerated. */
  readonly ratchets: boolean
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
    tree = hasRules(schema) ? (build(schema, [], true) ?? 'none') : 'none'
    trees.set(schema, tree)
  }
  return tree === 'none' ? undefined : tree
}

/** `branches`: what allOf says of the same place. */
function build(
  schema: Schema,
  branches: readonly Schema[],
  isResource: boolean,
): RuleTree | undefined {
  const all = withBranches([schema, ...branches])
  if (!all.some(hasRules)) return undefined
  const own = all.some((part) => rulesAt(part).length > 0)
  const type = own ? declaredType(schema, SELF_TYPE, isResource)?.type : undefined
  const rules =
    type === undefined
      ? []
      : all.flatMap((part) => compileRules(rulesAt(part), type, part === schema))
  const properties = new Map<string, RuleTree>()
  for (const [property, propertySchema] of Object.entries(propertiesOf(schema))) {
    const parts = all.slice(1).flatMap((part) => propertyOf(part, property) ?? [])
    const below = build(propertySchema, parts, isEmbedded(propertySchema))
    if (below !== undefined) properties.set(property, below)
  }
  const additional = additionalOf(schema)
  const items = itemsOf(schema)
  const itemParts = all.slice(1).flatMap((part) => itemsOf(part) ?? [])
  return {
    schema,
    type,
    rules,
    properties,
    additional:
      additional === undefined || additional === true
        ? undefined
        : build(additional, [], isEmbedded(additional)),
    items: items && build(items, itemParts, isEmbedded(items)),
  }
}

/** Schemas with all that their allOf adds, at any depth. */
function withBranches(schemas: readonly Schema[]): readonly Schema[] {
  return schemas.flatMap((schema) => [schema, ...withBranches(schema.allOf ?? [])])
}

export function rulesAt(schema: Schema): readonly RuleSource[] {
  return (schema['x-kubernetes-validations'] ?? []) as readonly RuleSource[]
}

function compileRules(
  sources: readonly RuleSource[],
  type: CelType,
  ratchets: boolean,
): CompiledRule[] {
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
          ratchets,
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

/** Policies with their expressions compiled, kept as long as the stored policy. */
import { BOOL, DYN, NULL, STRING, policyEnvironment, variableType } from '@gyropilot/cel'
import type { CelType, Environment, PolicyEnvironmentOptions } from '@gyropilot/cel'
import type { Stored } from '../../registry/kind-rules.ts'
import { ExpressionError, compileExpression } from '../expressions.ts'
import type { NamedProgram } from '../expressions.ts'
import type { MatchCriteria } from '../matching.ts'

interface CompiledPolicy {
  readonly name: string
  readonly criteria: MatchCriteria
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly conditions: readonly NamedProgram[]
  readonly variables: readonly NamedProgram[]
  /** What is wrong with an expression that was accepted once; undefined: nothing. */
  readonly problem: string | undefined
}

export interface CompiledValidation {
  readonly test: NamedProgram
  readonly messageExpression: NamedProgram | undefined
  readonly source: Stored
}

export interface ValidatingPolicy extends CompiledPolicy {
  readonly validations: readonly CompiledValidation[]
  readonly auditAnnotations: readonly NamedProgram[]
}

export interface CompiledMutation {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch'
  readonly patch: NamedProgram
}

export interface MutatingPolicy extends CompiledPolicy {
  readonly mutations: readonly CompiledMutation[]
  readonly reinvocation: 'Never' | 'IfNeeded'
}

/** One build for each stored state of an object. */
function remembered<T>(build: (policy: Stored) => T): (policy: Stored) => T {
  const known = new WeakMap<Stored, T>()
  return (policy) => {
    let built = known.get(policy)
    if (built === undefined) {
      built = build(policy)
      known.set(policy, built)
    }
    return built
  }
}

export function criteriaOf(match: Stored | undefined): MatchCriteria {
  return {
    rules: match?.['resourceRules'] ?? [],
    excluded: match?.['excludeResourceRules'] ?? [],
    matchPolicy: match?.['matchPolicy'],
    namespaceSelector: match?.['namespaceSelector'],
    objectSelector: match?.['objectSelector'],
  }
}

/** Compiles one expression after another; the first that does not compile is the policy's problem. */
class Builder {
  readonly options: PolicyEnvironmentOptions
  readonly variables: NamedProgram[] = []
  readonly #types: Record<string, CelType> = {}
  readonly #hasVariables: boolean
  problem: string | undefined

  constructor(spec: Stored, patches: boolean) {
    // Mutating policies may always name variables, though there be none.
    this.#hasVariables = patches || (spec['variables'] ?? []).length > 0
    this.options = { params: spec['paramKind'] !== undefined, patches }
    for (const { name, expression } of spec['variables'] ?? []) {
      const compiled = this.compile(name, expression, [DYN])
      if (compiled === undefined) continue
      this.variables.push(compiled)
      this.#types[name] = variableType(compiled.program.type)
    }
  }

  #environment(extra: PolicyEnvironmentOptions, withVariables: boolean): Environment {
    return policyEnvironment({
      authorizer: true,
      ...this.options,
      ...(withVariables && this.#hasVariables ? { variables: { ...this.#types } } : {}),
      ...extra,
    })
  }

  /** Conditions decide whether the policy is looked at: its variables come later. */
  condition({ name, expression }: Stored): NamedProgram | undefined {
    return this.compile(name, expression, [BOOL], {}, false)
  }

  compile(
    name: string,
    expression: string,
    results: readonly CelType[],
    extra: PolicyEnvironmentOptions = {},
    withVariables = true,
  ): NamedProgram | undefined {
    try {
      const program = compileExpression(
        expression,
        this.#environment(extra, withVariables),
        results,
      )
      return { name, expression, program }
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      this.problem ??= error.message
      return undefined
    }
  }

  all<T>(list: readonly T[] | undefined, build: (item: T) => NamedProgram | undefined) {
    return (list ?? []).flatMap((item) => build(item) ?? [])
  }
}

function base(policy: Stored, builder: Builder): Omit<CompiledPolicy, 'problem'> {
  const spec: Stored = policy['spec']
  return {
    name: policy['metadata'].name,
    criteria: criteriaOf(spec['matchConstraints']),
    failurePolicy: spec['failurePolicy'] ?? 'Fail',
    conditions: builder.all<Stored>(spec['matchConditions'], (condition) =>
      builder.condition(condition),
    ),
    variables: builder.variables,
  }
}

export const validatingPolicy = remembered((policy: Stored): ValidatingPolicy => {
  const spec: Stored = policy['spec']
  const builder = new Builder(spec, false)
  const validations = (spec['validations'] ?? []).flatMap((source: Stored) => {
    const test = builder.compile('', source['expression'], [BOOL])
    const text: string | undefined = source['messageExpression']
    const messageExpression = text
      ? builder.compile('', text, [STRING], { authorizer: false })
      : undefined
    return test === undefined ? [] : [{ test, messageExpression, source }]
  })
  const auditAnnotations = builder.all<Stored>(
    spec['auditAnnotations'],
    ({ key, valueExpression }) => builder.compile(key, valueExpression, [STRING, NULL]),
  )
  const common = base(policy, builder)
  return { ...common, validations, auditAnnotations, problem: builder.problem }
})

export const mutatingPolicy = remembered((policy: Stored): MutatingPolicy => {
  const spec: Stored = policy['spec']
  const builder = new Builder(spec, true)
  const mutations = (spec['mutations'] ?? []).flatMap((mutation: Stored): CompiledMutation[] => {
    const patchType: CompiledMutation['patchType'] = mutation['patchType']
    const text = mutation[patchType === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration']
    const patch = builder.compile('', text?.expression ?? '', [DYN])
    return patch === undefined ? [] : [{ patchType, patch }]
  })
  const common = base(policy, builder)
  const reinvocation = spec['reinvocationPolicy'] ?? 'Never'
  return { ...common, mutations, reinvocation, problem: builder.problem }
})

/**
 * Expressions of policies and match conditions: what they may name, how they are compiled, and how they are evaluated for
 * one request. Contract: docs/behaviour/api-server/subresources-and-admission.md, Validating and mutating policies.
 */
import {
  AuthorizerValue,
  CompileError,
  CostExceeded,
  CostMeter,
  DYN,
  EvaluationError,
  ProgramError,
  ResourceCheck,
  LazyMap,
  NAMESPACE_TYPE,
  REQUEST_TYPE,
  compile,
  fullTypeText,
  typeText,
  valueOf,
} from '@gyropilot/cel'
import type { Ask, CelType, Compiled, Environment, Value } from '@gyropilot/cel'
import type { AdmissionRequest, ResourceInfo } from '../contracts.ts'
import { serviceAccountGroups, serviceAccountUserName } from '../auth/index.ts'
import type { Stored } from '../registry/kind-rules.ts'
import { namespaceOf } from './matching.ts'
import { inVersion } from './object-versions.ts'
import { describeRequest } from './request-description.ts'
import type { AdmissionWorld } from './world.ts'

/** Throws ExpressionError: `compilation failed: ...`, `must evaluate to bool but got int`. */
export function compileExpression(
  text: string,
  environment: Environment,
  results: readonly CelType[],
): Compiled {
  try {
    return compile(text, environment, (type) => requireType(type, results))
  } catch (error) {
    if (error instanceof CompileError)
      throw new ExpressionError(`compilation failed: ${error.message}`)
    if (error instanceof ProgramError) throw new ConstantError(error.message)
    throw error
  }
}

function requireType(type: CelType, results: readonly CelType[]): void {
  const isDynamic = results.some(({ kind }) => kind === 'dyn')
  if (isDynamic || results.some((result) => typeText(result) === typeText(type))) return
  const wanted =
    results.length === 1
      ? fullTypeText(results[0]!)
      : `one of [${results.map(fullTypeText).join(' ')}]`
  throw new ExpressionError(`must evaluate to ${wanted} but got ${fullTypeText(type)}`)
}

export class ExpressionError extends Error {}

/** A constant part that cannot be evaluated. */
export class ConstantError extends ExpressionError {}

export interface NamedProgram {
  readonly name: string
  readonly expression: string
  readonly program: Compiled
}

/** Of one evaluation of one expression. */
const EXPRESSION_LIMIT = 1_000_000

/** What an expression reads for one request. Values are made when they are asked for. */
export class RequestValues {
  readonly request: AdmissionRequest
  #budget: number
  readonly #world: AdmissionWorld
  readonly #seenAs: ResourceInfo
  readonly #params: Stored | undefined
  readonly #variables: readonly NamedProgram[]
  readonly #namespaceKnown: boolean
  readonly #known = new Map<string, Value>()

  constructor(
    world: AdmissionWorld,
    request: AdmissionRequest,
    options: {
      readonly seenAs: ResourceInfo
      readonly budget: number
      readonly params?: Stored
      readonly variables?: readonly NamedProgram[]
      /** False: the namespace is not shown. */
      readonly namespaceKnown?: boolean
    },
  ) {
    this.#world = world
    this.request = request
    this.#seenAs = options.seenAs
    this.#params = options.params
    this.#variables = options.variables ?? []
    this.#budget = options.budget
    this.#namespaceKnown = options.namespaceKnown ?? true
  }

  /** Nothing more may be evaluated for this request. */
  get exhausted(): boolean {
    return this.#budget <= 0
  }

  /** Throws EvaluationError or CostExceeded. */
  evaluate({ program }: Pick<NamedProgram, 'program'>): Value {
    const meter = new CostMeter(Math.min(EXPRESSION_LIMIT, this.#budget))
    try {
      return program.evaluate((name) => this.#value(name), meter)
    } finally {
      this.#budget -= meter.spent
    }
  }

  #value(name: string): Value | undefined {
    let value = this.#known.get(name)
    if (value === undefined) {
      value = this.#make(name)
      if (value !== undefined) this.#known.set(name, value)
    }
    return value
  }

  #make(name: string): Value | undefined {
    const { request } = this
    switch (name) {
      case 'object':
        return this.#object(request.object)
      case 'oldObject':
        return this.#object(request.oldObject)
      case 'request':
        return valueOf(describeRequest(request, this.#seenAs), REQUEST_TYPE)
      case 'params':
        return valueOf(this.#params ?? null, DYN)
      case 'namespaceObject':
        return valueOf(this.#namespace() ?? null, NAMESPACE_TYPE)
      case 'variables':
        return new LazyMap(
          this.#variables.map((variable) => [variable.name, () => this.#variable(variable)]),
        )
      case 'authorizer':
        return new AuthorizerValue(askFor(this.#world, request))
      case 'authorizer.requestResource':
        return requestResource(this.#world, request)
      default:
        return undefined
    }
  }

  #namespace(): Stored | undefined {
    return this.#namespaceKnown ? namespaceOf(this.request, this.#world) : undefined
  }

  #variable(variable: NamedProgram): Value {
    try {
      return this.evaluate(variable)
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error
      throw new EvaluationError(
        `composited variable ${JSON.stringify(variable.name)} fails to evaluate: ${error.message}`,
      )
    }
  }

  #object(object: Stored | undefined): Value {
    const seen = inVersion(object, this.request.resource, this.#seenAs, this.#world.registry)
    return valueOf(seen ?? null, DYN)
  }
}

function askFor({ authorizer }: AdmissionWorld, { user }: AdmissionRequest): Ask {
  return ({ principal, verb, path, ...resource }) => {
    const asking =
      principal === 'requester'
        ? user
        : {
            name: serviceAccountUserName(principal.namespace, principal.name),
            groups: serviceAccountGroups(principal.namespace),
            extra: {},
          }
    return authorizer.authorize({
      user: asking,
      verb,
      version: '*',
      path: path ?? '',
      isResourceRequest: path === undefined,
      ...resource,
    })
  }
}

function requestResource(world: AdmissionWorld, request: AdmissionRequest): ResourceCheck {
  const { resource, subresource, namespace, name } = request
  return new ResourceCheck(new AuthorizerValue(askFor(world, request)), {
    group: resource.group,
    resource: resource.resource,
    subresource,
    namespace: resource.namespaced ? namespace : '',
    name,
  })
}

/** Of all conditions of one webhook or policy together. */
const CONDITIONS_BUDGET = 2_500_000

export type ConditionOutcome = 'match' | 'no-match' | { readonly error: string }

/** All must hold. One that does not decides, whatever else went wrong. */
export function matchConditions(
  conditions: readonly NamedProgram[],
  world: AdmissionWorld,
  request: AdmissionRequest,
  seenAs: ResourceInfo,
  params?: Stored,
): ConditionOutcome {
  if (conditions.length === 0) return 'match'
  const values = new RequestValues(world, request, {
    seenAs,
    budget: CONDITIONS_BUDGET,
    namespaceKnown: false,
    ...(params === undefined ? {} : { params }),
  })
  const errors: string[] = []
  for (const condition of conditions) {
    const result = outcomeOf(values, condition)
    if (result instanceof Error) {
      if (result instanceof CostExceeded) return { error: OUT_OF_BUDGET }
      errors.push(result.message)
    } else if (result !== true) return 'no-match'
  }
  if (errors.length === 0) return 'match'
  return { error: errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]` }
}

export const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run'

/** The value, or the error as policies report it: with the expression. */
export function outcomeOf(values: RequestValues, expression: NamedProgram): Value | Error {
  try {
    return values.evaluate(expression)
  } catch (error) {
    if (error instanceof CostExceeded && values.exhausted) return error
    if (error instanceof EvaluationError || error instanceof CostExceeded)
      return new EvaluationError(
        `expression '${expression.expression}' resulted in error: ${error.message}`,
      )
    throw error
  }
}

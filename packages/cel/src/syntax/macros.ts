/** Calls that are written out before types are looked at: has(), the loops over lists and maps, optMap and optFlatMap. */
import { ACCUMULATOR } from './ast.ts'
import type { Expression, Fold, Identifier } from './ast.ts'
import type { Problem } from './source.ts'
import { EMPTY_LIST, EMPTY_MAP } from '../values/values.ts'

interface Refusal extends Pick<Problem, 'offset'> {
  readonly problem: string
}

/** Undefined: the call is no macro. */
export function expandMacro(
  name: string,
  target: Expression | undefined,
  args: readonly Expression[],
  offset: number,
): Expression | Refusal | undefined {
  if (target === undefined) {
    if (name !== 'has' || args.length !== 1) return undefined
    const [argument] = args as [Expression]
    if (argument.kind === 'select' && !argument.presence)
      return { ...argument, presence: true, offset }
    return { problem: 'invalid argument to has() macro', offset: argument.offset }
  }
  const optional = OPTIONAL_MACROS.has(name) && args.length === 2
  if (optional) return expandOptional(name, target, args, offset)
  if (name === 'sortBy' && args.length === 2) return expandSortBy({ target, args, offset })
  const shape = SHAPES[`${name}/${args.length}`]
  if (shape === undefined) return undefined
  return expandLoop(shape, { target, args, offset })
}

interface Site {
  readonly target: Expression
  readonly args: readonly Expression[]
  readonly offset: number
}

interface Shape {
  /** How many of the arguments name variables. */
  readonly variables: 1 | 2
  readonly initial: (site: Site) => Expression
  readonly condition: (site: Site) => Expression
  /** `bodies` are the arguments after the variables. */
  readonly step: (site: Site, bodies: readonly Expression[]) => Expression
  readonly result?: (site: Site) => Expression
}

const call = (name: string, { offset }: Site, ...args: readonly Expression[]): Expression => ({
  kind: 'call',
  function: name,
  target: undefined,
  args,
  offset,
})
const literal =
  (value: boolean | bigint) =>
  (site: Site): Expression => ({
    kind: 'literal',
    value,
    offset: site.offset,
  })
const accumulated = ({ offset }: Site): Expression => ({
  kind: 'identifier',
  name: ACCUMULATOR,
  offset,
})
const emptyList = ({ offset }: Site): Expression => ({
  kind: 'literal',
  value: EMPTY_LIST,
  offset,
})
const emptyMap = ({ offset }: Site): Expression => ({ kind: 'literal', value: EMPTY_MAP, offset })
const always = literal(true)
const listOf = (site: Site, element: Expression): Expression => ({
  kind: 'list',
  elements: [element],
  optional: new Set(),
  offset: site.offset,
})
/** Adds to the result, when the predicate (if there is one) holds. */
const appending = (site: Site, predicate: Expression | undefined, element: Expression) => {
  const longer = call('_+_', site, accumulated(site), listOf(site, element))
  return predicate === undefined
    ? longer
    : call('_?_:_', site, predicate, longer, accumulated(site))
}
const inserting = (
  site: Site,
  predicate: Expression | undefined,
  args: readonly Expression[],
): Expression => {
  const larger = call('@insert', site, accumulated(site), ...args)
  return predicate === undefined
    ? larger
    : call('_?_:_', site, predicate, larger, accumulated(site))
}

const all = (variables: 1 | 2): Shape => ({
  variables,
  initial: always,
  condition: (site) => call('@not_strictly_false', site, accumulated(site)),
  step: (site, [predicate]) => call('_&&_', site, accumulated(site), predicate!),
})
const exists = (variables: 1 | 2): Shape => ({
  variables,
  initial: literal(false),
  condition: (site) => call('@not_strictly_false', site, call('!_', site, accumulated(site))),
  step: (site, [predicate]) => call('_||_', site, accumulated(site), predicate!),
})
const existsOne = (variables: 1 | 2): Shape => ({
  variables,
  initial: literal(0n),
  condition: always,
  step: (site, [predicate]) => {
    const more = call('_+_', site, accumulated(site), literal(1n)(site))
    return call('_?_:_', site, predicate!, more, accumulated(site))
  },
  result: (site) => call('_==_', site, accumulated(site), literal(1n)(site)),
})
const collecting = (variables: 1 | 2, initial: Shape['initial'], step: Shape['step']): Shape => ({
  variables,
  initial,
  condition: always,
  step,
})
const variableOf = (site: Site, index: number): Expression => ({
  ...site.args[index]!,
  offset: site.offset,
})

const SHAPES: Readonly<Record<string, Shape>> = {
  'all/2': all(1),
  'all/3': all(2),
  'exists/2': exists(1),
  'exists/3': exists(2),
  'exists_one/2': existsOne(1),
  'existsOne/3': existsOne(2),
  'exists_one/3': existsOne(2),
  'map/2': collecting(1, emptyList, (site, [element]) => appending(site, undefined, element!)),
  'map/3': collecting(1, emptyList, (site, [predicate, element]) =>
    appending(site, predicate, element!),
  ),
  'filter/2': collecting(1, emptyList, (site, [predicate]) =>
    appending(site, predicate, variableOf(site, 0)),
  ),
  'transformList/3': collecting(2, emptyList, (site, [element]) =>
    appending(site, undefined, element!),
  ),
  'transformList/4': collecting(2, emptyList, (site, [predicate, element]) =>
    appending(site, predicate, element!),
  ),
  'transformMap/3': collecting(2, emptyMap, (site, [value]) =>
    inserting(site, undefined, [variableOf(site, 0), value!]),
  ),
  'transformMap/4': collecting(2, emptyMap, (site, [predicate, value]) =>
    inserting(site, predicate, [variableOf(site, 0), value!]),
  ),
  'transformMapEntry/3': collecting(2, emptyMap, (site, [entries]) =>
    inserting(site, undefined, [entries!]),
  ),
  'transformMapEntry/4': collecting(2, emptyMap, (site, [predicate, entries]) =>
    inserting(site, predicate, [entries!]),
  ),
}

function expandLoop(shape: Shape, site: Site): Fold | Refusal {
  const names: string[] = []
  for (const argument of site.args.slice(0, shape.variables)) {
    if (argument.kind !== 'identifier' || argument.name.startsWith('@'))
      return { problem: 'argument must be a simple name', offset: argument.offset }
    names.push(argument.name)
  }
  const [variable, second] = names
  if (second !== undefined && second === variable)
    return {
      problem: `duplicate variable name: ${second}`,
      offset: site.args[1]!.offset,
    }
  return {
    kind: 'fold',
    range: site.target,
    variable: variable!,
    second,
    accumulator: ACCUMULATOR,
    initial: shape.initial(site),
    condition: shape.condition(site),
    step: shape.step(site, site.args.slice(shape.variables)),
    result: (shape.result ?? accumulated)(site),
    offset: site.offset,
  }
}

const SORTED_LIST = '@__sortBy_input__'

/** `list.sortBy(e, key(e))`: the list, evaluated once, in the order of the list of its keys. */
function expandSortBy(site: Site): Expression | Refusal {
  const { target, offset } = site
  const list: Identifier = { kind: 'identifier', name: SORTED_LIST, offset }
  const keys = expandLoop(SHAPES['map/2']!, { ...site, target: list })
  if ('problem' in keys) return keys
  const sorted: Expression = {
    kind: 'call',
    function: '@sortByAssociatedKeys',
    target: list,
    args: [keys],
    offset,
  }
  return bind(site, list, target, sorted)
}

/** `body`, in which the variable stands for a value: a fold over nothing. */
function bind(site: Site, variable: Identifier, value: Expression, body: Expression): Fold {
  return {
    kind: 'fold',
    range: emptyList(site),
    variable: UNUSED,
    second: undefined,
    accumulator: variable.name,
    initial: value,
    condition: literal(false)(site),
    step: { ...variable, offset: site.offset },
    result: body,
    offset: site.offset,
  }
}

/** `cel.bind(x, value, body)`. */
export function expandBinding(
  name: string,
  target: Expression | undefined,
  args: readonly Expression[],
  offset: number,
): Expression | Refusal | undefined {
  const isBinding = name === 'bind' && target?.kind === 'identifier' && target.name === 'cel'
  if (!isBinding || args.length !== 3) return undefined
  const [variable, value, body] = args as [Expression, Expression, Expression]
  if (variable.kind !== 'identifier')
    return {
      problem: 'cel.bind() variable names must be simple identifiers',
      offset: variable.offset,
    }
  return bind({ target, args, offset }, variable, value, body)
}

const OPTIONAL_MACROS = new Set(['optMap', 'optFlatMap'])
const UNUSED = '#unused'

/** `o.optMap(v, e)`: a fold over nothing that gives `v` the value of the optional, when it has one. */
function expandOptional(
  name: string,
  target: Expression,
  [variable, body]: readonly Expression[],
  offset: number,
): Expression | Refusal {
  if (variable?.kind !== 'identifier') {
    return {
      problem: `${name}() variable name must be a simple identifier`,
      offset: variable!.offset,
    }
  }
  const site: Site = { target, args: [], offset }
  const member = (method: string): Expression => ({
    kind: 'call',
    function: method,
    target,
    args: [],
    offset,
  })
  const bound = bind(site, variable, member('value'), body!)
  const some = name === 'optMap' ? call('optional.of', site, bound) : bound
  return call('_?_:_', site, member('hasValue'), some, call('optional.none', site))
}

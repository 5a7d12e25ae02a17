/**
 * Command-line flags as spf13/pflag reads them: `--name=value`, `--name value`, bare booleans, `_` for `-`, repeated lists.
 * Contract: docs/behaviour/runtime/manager.md, Startup sequence. Pure.
 */
import { compareStrings, formatGoDuration, goFloat, parseGoDuration } from '@gyropilot/foundation'
import { formatIp, parseIp } from '@gyropilot/api'
import { managerErrors } from '../errors.ts'
import { CsvError, csvRecord, readCsvRecord } from './csv.ts'
import { parseGoFloat } from './go-float.ts'

export type FlagType =
  | 'string'
  | 'bool'
  | 'int'
  /** Of 64 bits; the others have 32. */
  | 'int64'
  | 'uint'
  | 'float'
  | 'float32'
  | 'duration'
  /** A record of CSV, repeatable; the first use replaces the default. */
  | 'strings'
  /** Integers between commas, repeatable; kept as texts of decimal digits. */
  | 'integers'
  /** `a=true,b=false`, repeatable. */
  | 'mapStringBool'
  /** A Kubernetes quantity, as text. */
  | 'quantity'
  /** An IP address. */
  | 'ip'
  /** `pattern=N,pattern=N`, repeatable. */
  | 'modules'
  /** `a=x`, repeatable; several pairs in one use are separated by commas, and quoted where a value has one. */
  | 'stringToString'
  /** `cert,key` or `cert,key:name,name`, repeatable. */
  | 'namedCertKey'
  /** `--version` or `--version=raw`. */
  | 'optionalString'

export type FlagValue =
  | string
  | boolean
  | number
  | readonly string[]
  | ReadonlyMap<string, boolean>
  | ReadonlyMap<string, string>

export interface FlagDefinition {
  readonly name: string
  readonly shorthand?: string
  readonly type: FlagType
  /** As written on the command line. */
  readonly default: string
  readonly help: string
  /** The few that it takes besides its default, as who reads the flag judges them, and as shells complete them. */
  readonly values?: readonly string[]
  /** Why it has no effect here; such flags are accepted and mentioned once at -v=2. */
  readonly unused?: string
}

export interface ParsedFlags {
  /** Values of all flags, given or default. Durations are in milliseconds. */
  readonly values: ReadonlyMap<string, FlagValue>
  readonly given: ReadonlySet<string>
}

export function parseFlags(
  definitions: readonly FlagDefinition[],
  args: readonly string[],
  /** Named in the refusal of stray arguments. */
  command = 'kube-controller-manager',
): ParsedFlags {
  const byName = new Map(definitions.map((flag) => [flag.name, flag]))
  const byShorthand = new Map(
    definitions.flatMap((f) => (f.shorthand ? [[f.shorthand, f] as const] : [])),
  )
  const values = new Map(definitions.map((flag) => [flag.name, presetOf(flag)]))
  const given = new Set<string>()
  const queue = [...args]
  const stray: string[] = []
  const gates: string[] = []
  for (let arg = queue.shift(); arg !== undefined; arg = queue.shift()) {
    if (arg === '--') {
      stray.push(...queue.splice(0))
      break
    }
    if (!arg.startsWith('-') || arg === '-') {
      stray.push(arg)
      continue
    }
    const uses = arg.startsWith('--') ? [longFlag(arg, byName)] : shortFlags(arg, byShorthand)
    for (const { flag, text } of uses) {
      const value = text ?? implicitValue(flag) ?? queue.shift()
      if (value === undefined) throw invalid(`flag needs an argument: ${shown(arg, flag)}`)
      const before = values.get(flag.name)!
      values.set(flag.name, merged(flag, { before, isFirst: !given.has(flag.name) }, value))
      given.add(flag.name)
      if (flag.type === 'mapStringBool') gates.push(...value.split(','))
    }
  }
  if (stray.length > 0) {
    const listed = stray.map((arg) => JSON.stringify(arg)).join(' ')
    const message = `${JSON.stringify(command)} does not take any arguments, got [${listed}]`
    throw managerErrors.make('ARGUMENT_UNEXPECTED', message)
  }
  refuseMixedNames(gates)
  return { values, given }
}

/** `kube:Gate` and `Gate` mean the same, and upstream wants one of them throughout. */
function refuseMixedNames(pairs: readonly string[]): void {
  const components = pairs.filter(Boolean).map((pair) => /^\s*kube:/.test(pair))
  if (components.includes(true) && components.includes(false))
    throw managerErrors.make(
      'FEATURE_GATE_INVALID',
      'set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use',
    )
}

/** Some defaults are none that could be written: no pairs of files, no pairs of texts. */
function presetOf(flag: FlagDefinition): FlagValue {
  if (flag.type === 'namedCertKey') return []
  if (flag.default === '' && flag.type === 'integers') return []
  if (flag.default === '' && flag.type === 'stringToString') return new Map()
  return convert(flag, flag.default)
}

function invalid(message: string): Error {
  return managerErrors.make('FLAG_INVALID', message)
}

function shown(arg: string, flag: FlagDefinition): string {
  return arg.startsWith('--') ? `--${flag.name}` : `'${arg[1]}' in ${arg}`
}

function longFlag(arg: string, byName: ReadonlyMap<string, FlagDefinition>) {
  const equals = arg.indexOf('=')
  const written = arg.slice(2, equals < 0 ? undefined : equals)
  if (written === '' || written.startsWith('-')) throw invalid(`bad flag syntax: ${arg}`)
  const flag = byName.get(written.replaceAll('_', '-'))
  if (flag === undefined) throw invalid(`unknown flag: --${written}`)
  return { flag, text: equals < 0 ? undefined : arg.slice(equals + 1) }
}

interface Use {
  readonly flag: FlagDefinition
  readonly text: string | undefined
}

/** `-hv4`: flags that need no value stand before one that takes the rest. */
function* shortFlags(
  arg: string,
  byShorthand: ReadonlyMap<string, FlagDefinition>,
): Generator<Use> {
  for (let letters = arg.slice(1); letters !== ''; letters = letters.slice(1)) {
    const flag = byShorthand.get(letters[0]!)
    if (flag === undefined) throw invalid(`unknown shorthand flag: '${letters[0]}' in -${letters}`)
    const rest = letters.slice(1)
    if (rest !== '' && (rest.startsWith('=') || implicitValue(flag) === undefined)) {
      yield { flag, text: rest.replace(/^=/, '') }
      return
    }
    yield { flag, text: undefined }
  }
}

/** What a flag means without a value; undefined for those that need one. */
function implicitValue(flag: FlagDefinition): string | undefined {
  if (flag.type === 'bool') return 'true'
  return flag.type === 'optionalString' ? 'true' : undefined
}

/** The first use of a list replaces its default, further ones add to it. */
function merged(
  flag: FlagDefinition,
  { before, isFirst }: { readonly before: FlagValue; readonly isFirst: boolean },
  text: string,
): FlagValue {
  // As pflag: a blank address says nothing.
  if (flag.type === 'ip' && text === '') return before
  const value = convert(flag, text)
  if (isFirst) return value
  if (Array.isArray(value)) return [...(before as string[]), ...value]
  if (value instanceof Map) return new Map([...(before as Map<string, string>), ...value])
  return value
}

function convert(flag: FlagDefinition, text: string): FlagValue {
  const problem = (detail: string): Error => {
    const written = flag.shorthand ? `-${flag.shorthand}, --${flag.name}` : `--${flag.name}`
    return invalid(`invalid argument ${JSON.stringify(text)} for "${written}" flag: ${detail}`)
  }
  switch (flag.type) {
    case 'string':
    case 'optionalString':
      return text
    case 'bool':
      return parseBool(text, problem)
    case 'int':
    case 'int64':
    case 'uint':
      return goInteger(text, flag.type, problem)
    case 'float':
    case 'float32': {
      const value = parseGoFloat(text, flag.type === 'float' ? 64 : 32)
      if (typeof value === 'number') return value
      throw problem(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: ${value}`)
    }
    case 'duration': {
      const durationMs = parseGoDuration(text)
      if (typeof durationMs === 'string') throw problem(durationMs)
      return durationMs
    }
    case 'strings':
      return text === '' ? [] : csvFields(text, problem)
    case 'integers':
      return text.split(',').map((item) => String(goInteger(item, 'int', problem)))
    case 'quantity':
      if (QUANTITY.test(text)) return text
      throw problem(`quantities must match the regular expression '${QUANTITY.source}'`)
    case 'ip':
      return address(text.trim(), problem)
    case 'modules':
      return text === '' ? [] : text.split(',').map((item) => checkedModule(item, problem))
    case 'stringToString':
      return parseStringToString(text, problem)
    case 'namedCertKey':
      return [checkedCertKey(text, problem)]
    case 'mapStringBool':
      return new Map(text.split(',').filter(Boolean).map(parsePair))
  }
}

/** As pflag: with one `=` the whole text is a pair; otherwise it is a line of CSV with a pair in each field. */
function parseStringToString(
  text: string,
  problem: (detail: string) => Error,
): ReadonlyMap<string, string> {
  if (!text.includes('=')) throw problem(`${text} must be formatted as key=value`)
  const isOne = text.split('=').length === 2
  const fields = isOne ? [text.replace(/^"+|"+$/g, '')] : csvFields(text, problem)
  return new Map(
    fields.map((field) => {
      const equals = field.indexOf('=')
      if (equals < 0) throw problem(`${field} must be formatted as key=value`)
      return [field.slice(0, equals), field.slice(equals + 1)]
    }),
  )
}

function csvFields(text: string, problem: (detail: string) => Error): string[] {
  try {
    return readCsvRecord(text)
  } catch (error) {
    throw error instanceof CsvError ? problem(error.message) : error
  }
}

const QUANTITY = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/
/** What Go reads when the digits tell their base. */
const OF_ANY_BASE = /^[+-]?(0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9]\d*)$/
const BITS = { int: 31, int64: 63, uint: 32 }

/** As strconv.ParseInt and ParseUint with base 0. Of `uint` as klog's levels: decimal. */
function goInteger(
  text: string,
  type: 'int' | 'int64' | 'uint',
  problem: (detail: string) => Error,
): number {
  const parse = `strconv.${type === 'uint' ? 'ParseUint' : 'ParseInt'}: parsing ${JSON.stringify(text)}`
  const digits = /\d_\d/.test(text) ? text.replaceAll(/(?<=[\da-fA-F])_(?=[\da-fA-F])/g, '') : text
  const isInteger = type === 'uint' ? /^\d+$/.test(text) : OF_ANY_BASE.test(digits)
  if (!isInteger) throw problem(`${parse}: invalid syntax`)
  const isNegative = digits.startsWith('-')
  const size = digits.replace(/^[+-]/, '')
  const isOctal = type !== 'uint' && /^0\d/.test(size)
  const value = BigInt(isOctal ? `0o${size.slice(1)}` : size)
  const most = 2n ** BigInt(BITS[type])
  if (isNegative ? value > most : value >= most) throw problem(`${parse}: value out of range`)
  return Number(isNegative ? -value : value)
}

/** As Go writes it: an IPv4 address that is mapped into IPv6 is an IPv4 address. */
function address(text: string, problem: (detail: string) => Error): string {
  const ip = parseIp(text)
  if (ip === undefined) throw problem(`failed to parse IP: ${JSON.stringify(text)}`)
  const isMapped = ip.family === 6 && ip.value >> 32n === 0xffffn
  return formatIp(isMapped ? { family: 4, value: ip.value & 0xffff_ffffn } : ip)
}

function checkedModule(item: string, problem: (detail: string) => Error): string {
  const [pattern = '', level, ...more] = item.split('=')
  if (pattern === '' || level === undefined || more.length > 0)
    throw problem(`${JSON.stringify(item)} does not have the pattern=N format`)
  goInteger(level, 'uint', (detail) =>
    problem(`parsing verbosity in ${JSON.stringify(item)}: ${detail}`),
  )
  return item
}

function checkedCertKey(text: string, problem: (detail: string) => Error): string {
  const [files = '', ...names] = text.split(':')
  if (names.length > 0 && names.join(':').trim() === '')
    throw problem('empty names list is not allowed')
  if (files.split(',').length !== 2)
    throw problem('expected comma separated certificate and key file paths')
  return text
}

function parseBool(text: string, problem: (detail: string) => Error): boolean {
  if (/^(1|t|T|true|TRUE|True)$/.test(text)) return true
  if (/^(0|f|F|false|FALSE|False)$/.test(text)) return false
  throw problem(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`)
}

/** Upstream looks at gates after all flags are read, so that what is wrong with one is no mistake of the command line. */
function parsePair(pair: string): readonly [string, boolean] {
  const problem = (message: string): Error => managerErrors.make('FEATURE_GATE_INVALID', message)
  const equals = pair.indexOf('=')
  const [component, key] = componentAndName(pair.slice(0, Math.max(equals, 0)).trim())
  if (component !== '' && component !== 'kube')
    throw problem(`component not registered: ${component}`)
  if (equals < 0) throw problem(`missing bool value for ${pair.trim()}`)
  const value = pair.slice(equals + 1).trim()
  return [
    key,
    parseBool(value, (detail) => problem(`invalid value of ${key}=${value}, err: ${detail}`)),
  ]
}

/** `kube:Gate` and `Gate` are the same here: there is one component. */
function componentAndName(text: string): readonly [component: string, name: string] {
  const colon = text.indexOf(':')
  return colon < 0 ? ['', text] : [text.slice(0, colon), text.slice(colon + 1)]
}

/** A value as `FLAG:` lines and /flagz show it: what Go prints for it. */
export function flagValueText(flag: FlagDefinition, value: FlagValue): string {
  if (flag.type === 'stringToString') {
    const pairs = [...(value as ReadonlyMap<string, string>)].map((pair) => pair.join('='))
    return `[${csvRecord(pairs.sort(compareStrings))}]`
  }
  if (value instanceof Map) {
    const pairs = [...(value as ReadonlyMap<string, boolean>)].map(([name, on]) => `:${name}=${on}`)
    return pairs.sort(compareStrings).join(',')
  }
  if (flag.type === 'modules') return (value as readonly string[]).join(',')
  if (flag.type === 'namedCertKey') return `[${(value as readonly string[]).join(';')}]`
  if (Array.isArray(value)) return `[${csvRecord(value)}]`
  if (flag.type === 'duration') return formatGoDuration(value as number)
  if (flag.type === 'optionalString') return value === '' ? 'false' : String(value)
  return typeof value === 'number' ? numberText(flag, value) : String(value)
}

function numberText({ type }: FlagDefinition, value: number): string {
  return type === 'float' || type === 'float32' ? goFloat(value) : String(value)
}

/**
 * Rules as kube-apiserver 1.36 judged them, recorded: what they may cost, and what they give for one object. The tables are
 * `[rule, factor, items]` (the rule stood at the items of a list of so many items, and exceeded its budget by this factor) and
 * `[rule, outcome]`.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { FIELDS, VALUE } from './recorded-rules.fixtures.ts'
import { rulesOf } from './rules.ts'
import { RuleCheck } from './rule-validation.ts'
import { runRules } from './run-rules.ts'
import { checkOpenApi } from './schemas/openapi-validation.ts'
import type { Schema } from './schemas/structural-schema.ts'

const FOLDER = join(import.meta.dirname, '../../../../tests/recordings/expressions')

function recorded<Row>(file: string): readonly Row[] {
  return JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Row[]
}

function problems(schema: Schema): readonly string[] {
  const errors = new FieldErrors()
  const rules = new RuleCheck(errors, true, undefined)
  checkOpenApi(schema, 'schema', errors, rules)
  rules.finish('schema')
  return errors.list.map(({ message }) => message)
}

const withRule = (properties: Schema['properties'], rule: string): Schema =>
  ({
    type: 'object',
    properties,
    'x-kubernetes-validations': [{ rule, message: 'false' }],
  }) as Schema

/** The compiler's own words, without the rule before and the lines that show it. */
const compilerText = (message: string): string =>
  message.replace(/^.*?(compilation failed: |(?=program instantiation))/s, '')

describe('what a rule may cost, as kube-apiserver estimates it', () => {
  type Row = readonly [rule: string, factorOrText: number | string, items?: number]
  for (const [rule, expected, items = 50_000_000] of recorded<Row>('estimates.json')) {
    test(rule, () => {
      const list = { type: 'array', maxItems: items, items: withRule(FIELDS.estimates, rule) }
      const [first = ''] = problems(list as Schema)
      const factor = /by factor of (more than )?([\d.]+)x/.exec(first)
      if (expected === 'too much') assert.equal(factor?.[1], 'more than ')
      else if (typeof expected === 'string') assert.equal(compilerText(first), expected)
      else assert.equal(Number(factor?.[2]), expected, first)
    })
  }
})

describe('what a rule gives, as kube-apiserver evaluates it', () => {
  for (const [rule, expected] of recorded<readonly [string, string]>('outcomes.json'))
    test(rule, () => assert.equal(outcome(rule), expected))
})

function outcome(rule: string): string {
  const schema = withRule(FIELDS.outcomes, rule)
  const refused = problems(schema)
  if (refused.length > 0)
    return refused.map((text) => compilerText(text).replaceAll(/\n \|.*$/gm, '')).join(' & ')
  const errors = new FieldErrors()
  runRules(rulesOf(schema)!, VALUE, undefined, { errors, tolerated: new FieldErrors() })
  const [first] = errors.list
  if (first === undefined) return 'true'
  const failed = / evaluating rule.*/s
  if (!failed.test(first.message)) return 'false'
  return `error ${first.message.replace(/^.*?: /, '').replace(failed, '')}`
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { validateConversion } from './conversion-validation.ts'

test('a definition that preserves unknown fields has no conversion but None, in the words of kube-apiserver 1.36.2', () => {
  const causes = (conversion: object): readonly string[] => {
    const errors = new FieldErrors()
    validateConversion(conversion, errors, undefined, true)
    return errors.list.map(({ field, message }) => `${field}: ${message}`)
  }
  const only = 'must be None if spec.preserveUnknownFields is true'
  const strategy = 'spec.conversion.strategy'
  assert.deepEqual(causes({ strategy: 'None' }), [])
  assert.deepEqual(causes({ strategy: 'Zap' }), [
    `${strategy}: Invalid value: "Zap": ${only}`,
    `${strategy}: Unsupported value: "Zap": supported values: "None", "Webhook"`,
  ])
  assert.deepEqual(causes({ strategy: '' }), [
    `${strategy}: Invalid value: "": ${only}`,
    `${strategy}: Required value`,
  ])
  const webhook = {
    clientConfig: { url: 'https://x.example.com' },
    conversionReviewVersions: ['v1'],
  }
  assert.deepEqual(causes({ strategy: 'Webhook', webhook }), [
    `${strategy}: Invalid value: "Webhook": ${only}`,
  ])
})

/** Custom resources. Contract: docs/behaviour/api-server/custom-resources.md. */
export { DefinitionController } from './definitions/definition-controller.ts'
export { definitionRules } from './definitions/definition-rules.ts'

/** Custom resources. Contract: docs/behaviour/api-server/custom-resources.md. */
export { servedResources } from './custom-resource.ts'
export type { CustomDefinition } from './custom-resource.ts'
export { DefinitionController } from './definitions/definition-controller.ts'
export type { DefinitionControllerParts } from './definitions/definition-controller.ts'
export { definitionRules } from './definitions/definition-rules.ts'
export { openApiSchemas } from './openapi.ts'

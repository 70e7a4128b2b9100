// Modules that the build makes of files (build.mjs).

declare module "*.css" {
  const text: string;
  export default text;
}
declare module "shipped-laws" {
  const laws: Record<string, string>;
  export default laws;
}

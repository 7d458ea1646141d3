//! The samples of `docs/coming-from-csharp.md`, as functions that a test runs. The page has the lines between the marks.

use std::collections::BTreeMap;

use tablerock_client::sas::TablePermissions;
use tablerock_client::{
    BlobServiceClient, ContainerClient, ContinuationToken, DateTime, Entity, EntityError, Etag, FromEntity, Result,
    TableClient, TableEntity, TableOperation, TryStreamExt, partition_key, row_key,
};

use crate::support::{Account, unique_name};

// [types]
#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Employee {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    id: String,
    last_name: String,
    email: Option<String>,
    #[entity(etag)]
    etag: Option<Etag>,
}

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Department {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    id: String,
    employee_count: i32,
}
// [/types]

async fn point(people: &TableClient) -> Result<Option<Employee>> {
    // [point]
    let employee: Option<Employee> = people.get_if_exists("Sales", "222").await?;
    // [/point]
    Ok(employee)
}

async fn range(people: &TableClient) -> Result<Vec<Employee>> {
    // [range]
    let employees = people.query::<Employee>().partition("Sales").row_range("F".."H").all().await?;
    // [/range]
    Ok(employees)
}

async fn conditions(people: &TableClient) -> Result<Vec<Employee>> {
    // [conditions]
    let in_sales = partition_key().eq("Sales");
    let from_f_to_h = row_key().ge("F").and(row_key().lt("H"));
    let employees = people.query::<Employee>().filter(in_sales.and(from_f_to_h)).all().await?;
    // [/conditions]
    Ok(employees)
}

async fn all_pages(people: &TableClient) -> Result<usize> {
    let mut count = 0;
    // [all-pages]
    let mut employees = people.query::<Employee>().partition("Sales").stream();
    while let Some(employee) = employees.try_next().await? {
        println!("{}", employee.last_name);
        count += 1;
    }
    // [/all-pages]
    Ok(count)
}

async fn token(people: &TableClient, stored: Option<String>) -> Result<(Vec<Employee>, Option<String>)> {
    // [token]
    let token: Option<ContinuationToken> = stored.map(|text| text.parse()).transpose()?;
    let page = people.query::<Employee>().partition("Sales").page(token.as_ref()).await?;
    let to_be_stored: Option<String> = page.continuation_token.map(|token| token.to_string());
    // [/token]
    Ok((page.items, to_be_stored))
}

async fn page_size(people: &TableClient) -> Result<Vec<Employee>> {
    // [page-size]
    let page = people.query::<Employee>().partition("Sales").page_size(50).page(None).await?;
    // [/page-size]
    Ok(page.items)
}

async fn projection(people: &TableClient) -> Result<Vec<String>> {
    // [projection]
    let query = people.query::<Entity>().partition("Sales").select_properties(&["Email"]);
    let emails = query.resolve(|entity| {
        let email: Option<String> = entity.property("Email")?;
        Ok(format!("{}: {}", entity.row_key, email.unwrap_or_default()))
    });
    let emails: Vec<String> = emails.all().await?;
    // [/projection]
    Ok(emails)
}

async fn property_bag(people: &TableClient) -> Result<Vec<String>> {
    let mut found = Vec::new();
    // [property-bag]
    for entity in people.query::<Entity>().partition("Sales").all().await? {
        match entity.property::<Option<String>>("EntityType")?.as_deref() {
            Some("Employee") => found.push(entity.property::<String>("LastName")?),
            Some("Department") => found.push(entity.property::<i32>("EmployeeCount")?.to_string()),
            _ => {}
        }
    }
    // [/property-bag]
    Ok(found)
}

async fn types_by_tag(people: &TableClient) -> Result<(usize, usize)> {
    let (mut employees, mut departments) = (0, 0);
    // [types-by-tag]
    #[derive(TableEntity)]
    #[entity(tag = "EntityType")]
    enum Staff {
        Employee(Employee),
        Department(Department),
        #[entity(other)]
        Other(Entity),
    }

    for staff in people.query::<Staff>().partition("Sales").all().await? {
        match staff {
            Staff::Employee(employee) => employees += employee.last_name.len(),
            Staff::Department(department) => departments += department.employee_count as usize,
            Staff::Other(unknown) => println!("{} is of another type", unknown.row_key),
        }
    }
    // [/types-by-tag]
    Ok((employees, departments))
}

async fn types_by_resolver(people: &TableClient) -> Result<Vec<String>> {
    // [types-by-resolver]
    fn name(entity: Entity) -> Result<String, EntityError> {
        match entity.property::<Option<String>>("EntityType")?.as_deref() {
            Some("Department") => Department::from_entity(entity).map(|department| department.department),
            _ => Employee::from_entity(entity).map(|employee| employee.last_name),
        }
    }

    let names: Vec<String> = people.query::<Entity>().partition("Sales").resolve(name).all().await?;
    // [/types-by-resolver]
    Ok(names)
}

async fn one_property(people: &TableClient) -> Result<()> {
    // [one-property]
    let mut entity: Entity = people.get("Sales", "222").await?;
    entity.set("Email", "new@example.com");
    people.replace(&entity).await?; // fails if another writer was faster
    // [/one-property]
    Ok(())
}

async fn many(people: &TableClient) -> Result<Vec<Employee>> {
    // [many]
    let employees: Vec<Employee> = people.query().partition("Sales").all().await?;
    // [/many]
    Ok(employees)
}

fn many_sync(people: &TableClient) -> Result<Vec<Employee>> {
    // [many-sync]
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let employees: Vec<Employee> = runtime.block_on(people.query().partition("Sales").all().into_future())?;
    // [/many-sync]
    Ok(employees)
}

async fn upsert(people: &TableClient, employee: &Employee) -> Result<Etag> {
    // [upsert]
    let etag = people.insert_or_replace(employee).await?; // or insert_or_merge
    // [/upsert]
    Ok(etag)
}

fn upsert_sync(people: &TableClient, employee: &Employee) -> Result<Etag> {
    // [upsert-sync]
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let etag = runtime.block_on(async { people.insert_or_replace(employee).await })?;
    // [/upsert-sync]
    Ok(etag)
}

fn inverted_ticks(now: DateTime) -> (String, DateTime) {
    // [inverted-ticks]
    let key = format!("{:019}", DateTime::MAX.ticks() - now.ticks());
    let time = DateTime::from_ticks(DateTime::MAX.ticks() - key.parse::<u64>().expect("it is a number"));
    // [/inverted-ticks]
    (key, time)
}

async fn sas_of_a_range(people: &TableClient) -> Result<Vec<Employee>> {
    // [sas]
    let expiry = DateTime::parse("2040-01-01").expect("it is a date");
    let sas = people.sas(TablePermissions::READ, expiry).from_entity("Sales", "F").to_entity("Sales", "H").sign()?;
    let guest = people.with_credential(sas)?;
    let seen = guest.query::<Employee>().all().await?;
    // [/sas]
    Ok(seen)
}

async fn batch(people: &TableClient, changed: &Employee, gone: &Employee) -> Result<Vec<Option<Etag>>> {
    let new = |id: &str| Entity::new("Sales", id).with("LastName", "New");
    // [batch]
    let etags = people
        .transaction()
        .insert(&new("900"))
        .replace(changed) // the version that was read
        .operation(TableOperation::merge(&new("223")).any_version())
        .insert_or_replace(&new("901"))
        .insert_or_merge(&new("902"))
        .delete(gone)
        .commit()
        .await?; // an error has failed_index()
    // [/batch]
    Ok(etags)
}

async fn logs(logs: &ContainerClient) -> Result<BTreeMap<String, usize>> {
    let mut lines = BTreeMap::new();
    // [logs]
    let mut blobs = logs.list_blobs().prefix("table/2026/11/18/").stream();
    while let Some(blob) = blobs.try_next().await? {
        let content = logs.blob(&blob.name).download().await?.content;
        lines.insert(blob.name, String::from_utf8_lossy(&content).lines().count());
    }
    // [/logs]
    Ok(lines)
}

fn employee(id: &str, last_name: &str) -> Employee {
    let email = Some(format!("{}@example.com", last_name.to_lowercase()));
    Employee { department: "Sales".into(), id: id.into(), last_name: last_name.into(), email, etag: None }
}

/// A table with employees, of which two have keys between F and H, and with a department.
async fn staff(account: &Account) -> TableClient {
    let people = account.table().await;
    let mut group = people.transaction();
    for (id, name) in
        [("222", "Ash"), ("223", "Birch"), ("224", "Cedar"), ("F1", "Fir"), ("Gamma", "Gum"), ("H", "Holly")]
    {
        let typed = employee(id, name).to_entity().unwrap().with("EntityType", "Employee");
        group = group.insert(&typed);
    }
    let department = Department { department: "Sales".into(), id: "department".into(), employee_count: 6 };
    let department = department.to_entity().unwrap().with("EntityType", "Department");
    group.insert(&department).insert(&Entity::new("Sales", "zzz").with("LastName", "?")).commit().await.unwrap();
    people
}

#[tokio::test]
async fn queries_of_the_guide() {
    let account = Account::open().await;
    let people = staff(&account).await;
    assert_eq!(point(&people).await.unwrap().unwrap().last_name, "Ash");
    let names = |found: Vec<Employee>| found.into_iter().map(|found| found.last_name).collect::<Vec<_>>();
    assert_eq!(names(range(&people).await.unwrap()), ["Fir", "Gum"]);
    assert_eq!(names(conditions(&people).await.unwrap()), ["Fir", "Gum"]);
    assert_eq!(projection(&people).await.unwrap()[0], "222: ash@example.com");
    assert_eq!(property_bag(&people).await.unwrap().len(), 7);
    assert_eq!(types_by_tag(&people).await.unwrap(), (24, 6));
    assert!(types_by_resolver(&people).await.unwrap().contains(&"Sales".to_owned()));
    one_property(&people).await.unwrap();
    assert_eq!(point(&people).await.unwrap().unwrap().email.as_deref(), Some("new@example.com"));
}

#[tokio::test]
async fn a_signature_of_the_guide_reads_a_range_of_keys() {
    let account = Account::open().await;
    let people = staff(&account).await;
    let seen = sas_of_a_range(&people).await.unwrap();
    assert_eq!(seen.iter().map(|seen| seen.last_name.as_str()).collect::<Vec<_>>(), ["Fir", "Gum", "Holly"]);
}

/// The department does not have the properties of an employee.
#[tokio::test]
async fn pages_and_writes_of_the_guide() {
    let account = Account::open().await;
    let people = staff(&account).await;
    people.delete_by_keys("Sales", "department").any_version().await.unwrap();
    assert_eq!(all_pages(&people).await.unwrap(), 7);
    let (first, next) = token(&people, None).await.unwrap();
    assert_eq!((first.len(), next), (7, None));
    assert_eq!(page_size(&people).await.unwrap().len(), 7);
    assert_eq!(many(&people).await.unwrap().len(), 7);
    let (again, ann) = (people.clone(), employee("222", "Ash"));
    let outside =
        tokio::task::spawn_blocking(move || (many_sync(&again).unwrap().len(), upsert_sync(&again, &ann).unwrap()));
    let (count, etag) = outside.await.unwrap();
    assert_eq!(count, 7);
    assert_eq!(point(&people).await.unwrap().unwrap().etag, Some(etag));
    upsert(&people, &employee("500", "New")).await.unwrap();
    let changed = point(&people).await.unwrap().unwrap();
    let gone: Employee = people.get("Sales", "224").await.unwrap();
    assert_eq!(batch(&people, &changed, &gone).await.unwrap().len(), 6);
    assert!(!people.exists("Sales", "224").await.unwrap());
}

#[test]
fn the_newest_sorts_first() {
    let now = DateTime::parse("2026-11-18T12:00:00.1234567Z").unwrap();
    let (key, time) = inverted_ticks(now);
    assert_eq!((key.len(), time), (19, now));
    assert!(inverted_ticks(DateTime::parse("2026-11-18T12:00:01Z").unwrap()).0 < key);
}

#[tokio::test]
async fn logs_are_read_by_prefix() {
    let account = Account::open().await;
    let blobs = BlobServiceClient::from_connection_string(account.connection_string()).unwrap();
    let container = blobs.container(unique_name());
    container.create().await.unwrap();
    for (name, text) in [("table/2026/11/18/1100/000000.log", "a\nb\n"), ("table/2026/11/17/1100/000000.log", "c\n")] {
        container.blob(name).upload(text).await.unwrap();
    }
    let lines = logs(&container).await.unwrap();
    assert_eq!(lines.into_iter().collect::<Vec<_>>(), [("table/2026/11/18/1100/000000.log".to_owned(), 2)]);
}
